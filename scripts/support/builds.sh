# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts/test and by what it runs ahead, in the root of the sources, after progress.sh: builds in build-test/*.

# build NAME CC [MESON OPTION...]: in a folder of its own, with warnings as errors; $targets, or all
build() {
	folder=build-test/$1
	compiler=$2
	shift 2
	rm -f "$folder/built"
	if [ ! -e "$folder/build.ninja" ]; then
		CC=$compiler meson setup "$folder" -Dwerror=true -Dtests=enabled "$@" >/dev/null || return 1
	fi
	# shellcheck disable=SC2086 # a list of words
	with_progress "$folder/ninja.log" ninja -C "$folder" ${targets:-} || {
		tail -n 60 "$folder/ninja.log"
		return 1
	}
	touch "$folder/built"
}

# threaded: tests, by Meson's names, that run with the thread sanitizer
threaded() {
	echo aggregate_threads
	for file in tests/allreduce/test_*.c; do
		echo "allreduce_$(basename "${file#*/test_}" .c)"
	done
}
