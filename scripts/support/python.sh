# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that are programs in Python. $root is set already.

# check_arguments MODULE [ARGUMENT...]: what is wrong with them is said before anything is installed.
check_arguments() {
	[ ! -x /usr/bin/python3 ] || PYTHONPATH=$root/python:$root/scripts PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -S -P "$root/scripts/support/options.py" "$@"
}

# run_python MODULE [ARGUMENT...]: a module of scripts/, which finds the package of python/. What PYTHONPATH
# has is kept after that: programs that it starts may need it, as simple_switch_CLI does.
run_python() {
	PYTHONPATH=$root/python:$root/scripts${PYTHONPATH:+:$PYTHONPATH} exec /usr/bin/python3 -P -m "$@"
}
