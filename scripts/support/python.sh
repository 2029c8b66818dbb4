# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that are programs in Python. $root is set already.

# run_python MODULE [ARGUMENT...]: a module of scripts/, which finds the package of python/
run_python() {
	PYTHONPATH=$root/python:$root/scripts exec /usr/bin/python3 -P -m "$@"
}
