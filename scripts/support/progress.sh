# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that run a command for long whose words go into a log.

# with_progress LOG COMMAND...: shows the log's latest line every 15 s, and after how long
with_progress() {
	log=$1
	shift
	: >"$log"
	(
		seconds=0
		while sleep 15 </dev/null >/dev/null 2>&1 && kill -0 $$; do
			seconds=$((seconds + 15))
			printf '%6d s  %s\n' $seconds "$(tail -n 1 "$log" | tr -d '\r' | cut -c 1-90)"
		done
	) 9>&- & # the lock that build.sh holds is the command's alone
	watcher=$!
	status=0
	"$@" >"$log" 2>&1 || status=$?
	# Again and again: a shell that has just been forked loses a signal that its parent traps.
	while kill $watcher 2>/dev/null; do
		sleep 0.1
	done
	return $status
}
