# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that need the programs: sets $build to the folder of a build that is up to date,
# build/, or the one that NETFC_BUILD names, which is taken as it is. $root is set already.

. "$root/scripts/support/progress.sh"

# quietly LOG COMMAND...: what it says goes into the log, whose end is shown where it fails
quietly() {
	log=$1
	with_progress "$@" && return
	tail -n 40 "$log" >&2
	exit 1
}

# build_programs: one script at a time, whoever else builds the same folder
build_programs() {
	mkdir -p "$build"
	(
		flock 9
		if [ ! -e "$build/build.ninja" ]; then
			echo "Configuring build/"
			quietly "$build/setup.log" meson setup "$build" "$root" -Dtests=disabled
		fi
		echo "Building: a minute or two the first time"
		quietly "$build/ninja.log" ninja -C "$build"
	) 9>"$build/lock"
}

build=${NETFC_BUILD:-$root/build}
if [ -z "${NETFC_BUILD:-}" ]; then
	build_programs
elif [ ! -d "$build/app" ]; then
	echo "${script:-$0}: no programs in $build, which NETFC_BUILD names; without it they are built in build/" >&2
	exit 1
fi
