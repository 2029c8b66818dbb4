# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that work on a copy of the sources; they are in the folder of the repository.

# copy_sources FOLDER: all but what is built: what git does not ignore, if there is a repository
copy_sources() {
	mkdir -p "$1"
	if [ -e .git ]; then
		git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | tar -x -C "$1"
	else
		tar -c --exclude='./build*' --exclude=__pycache__ . | tar -x -C "$1"
	fi
}
