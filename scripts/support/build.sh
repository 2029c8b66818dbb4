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

# can_build: the folder can be written, or made
can_build() {
	if [ -e "$build" ]; then
		[ -w "$build" ]
	else
		[ -w "$root" ]
	fi
}

# is_up_to_date: so that it is not said that there is something to build
is_up_to_date() {
	ninja -C "$build" -n 2>/dev/null | grep -q 'no work to do'
}

# Where it is installed, meson takes it, and it fails for users who have no home, such as nobody.
[ -w "${HOME:-}" ] || export CCACHE_DISABLE=1

# build_programs: one script at a time, whoever else builds the same folder
build_programs() {
	mkdir -p "$build"
	(
		flock 9
		if [ ! -e "$build/build.ninja" ]; then
			echo "Configuring build/"
			quietly "$build/setup.log" meson setup "$build" "$root" -Dtests=disabled
		fi
		if ! is_up_to_date; then
			echo "Building: a minute or two the first time"
			quietly "$build/ninja.log" ninja -C "$build"
		fi
	) 9>"$build/lock"
}

# refuse WHAT: is wrong with the folder
refuse() {
	echo "${script:-$0}: $1" >&2
	exit 1
}

build=${NETFC_BUILD:-$root/build}
if [ -n "${NETFC_BUILD:-}" ]; then
	[ -x "$build/app/dpdk-netfc" ] ||
		refuse "no programs in $build, which NETFC_BUILD names; without it they are built in build/"
elif can_build; then
	build_programs
elif [ -x "$build/app/dpdk-netfc" ]; then
	echo "$build cannot be written: the programs are taken as they are there"
else
	refuse "$build cannot be written. Build elsewhere, and name the folder:
  meson setup FOLDER $root -Dtests=disabled && ninja -C FOLDER && NETFC_BUILD=FOLDER ${script:-$0}"
fi
