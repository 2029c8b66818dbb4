# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that need the programs: sets $build to the folder of a build that is up to date,
# build/, or the one that NETFC_BUILD names, which is taken as it is. $root is set already.

build=${NETFC_BUILD:-$root/build}
if [ -z "${NETFC_BUILD:-}" ]; then
	if [ ! -e "$build/build.ninja" ]; then
		echo "Configuring build/"
		meson setup "$build" "$root" -Dtests=false >/dev/null
	fi
	echo "Building"
	ninja -C "$build" --quiet
fi
