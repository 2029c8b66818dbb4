# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts before they install or build anything: --help prints the comment at their head, and
# the options of the module of Python that they run, and ends. $script and $module: of a script that another
# runs, and what it runs; of one of several, "SCRIPT NAME", the module's own text is enough.

for word in "$@"; do
	case $word in
	--) break ;;
	-h | --help) ;;
	*) continue ;;
	esac
	if [ -f "${script:-$0}" ]; then
		# Its lines up to the first that is none, without the licence's.
		sed -n '1,2d; /^#/!q; s/^# \{0,1\}//p' "${script:-$0}"
		[ -n "${module:-}" ] || exit 0
		echo
	fi
	PYTHONPATH=$root/python:$root/scripts /usr/bin/python3 -S -P "$root/scripts/support/options.py" "$module" --help \
		2>/dev/null || echo "${script:-$0} shows its options once python3 is installed; without --help it installs it."
	exit 0
done

# refuse ARGUMENT [WHY]: ends a script that was called with it
refuse() {
	echo "${script:-$0}: ${1:-nothing}: ${2:-it does not take that}; ${script:-$0} --help says how it is called" >&2
	exit 1
}
