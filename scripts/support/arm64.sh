# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that compile for arm64 on another processor, and run it in QEMU; they are in the
# folder of the repository. $arm64 is where everything goes.

# codename: of this machine's release of Debian
codename() {
	(. /etc/os-release && echo "$VERSION_CODENAME")
}

# What is compiled against, in the tree.
arm64_packages() {
	echo "libc6-dev linux-libc-dev libgcc-$(aarch64-linux-gnu-gcc -dumpversion)-dev" \
		"libdpdk-dev libjansson-dev nettle-dev zlib1g-dev libcmocka-dev libmpfr-dev libpcap-dev"
}

# make_arm64_tree: libraries and headers for arm64 of this machine's release of Debian in $arm64/tree. Its
# packages are unpacked and not configured, so that nothing has to run in it, and nothing of it comes to
# this machine's own packages.
make_arm64_tree() {
	[ ! -e "$arm64/tree.made" ] || return 0
	rm -rf "$arm64/tree"
	mkdir -p "$arm64"
	debootstrap --arch=arm64 --foreign --variant=minbase \
		--include="$(arm64_packages | tr ' ' ,)" \
		"$(codename)" "$arm64/tree" >"$arm64/debootstrap.log" || {
		tail -n 20 "$arm64/debootstrap.log" >&2
		return 1
	}
	for package in "$arm64"/tree/var/cache/apt/archives/*.deb; do
		dpkg-deb --extract "$package" "$arm64/tree" || return 1
		rm "$package"
	done
	# Links to shared libraries name them from the root.
	find "$arm64/tree/usr/lib" -type l -name '*.so' -lname '/lib/*' | while read -r link; do
		ln -sfn "$arm64/tree$(readlink "$link")" "$link"
	done
	touch "$arm64/tree.made"
}

# build_arm64 COMPILER [TARGET...]: in $arm64/COMPILER, with warnings as errors; gcc or clang
build_arm64() {
	folder=$arm64/$1
	case $1 in
	gcc) compiler="'aarch64-linux-gnu-gcc'" ;;
	clang) compiler="'clang', '--target=aarch64-linux-gnu'" ;;
	esac
	shift
	if [ ! -e "$folder/build.ninja" ]; then
		printf "[constants]\ntree = '%s'\ncompiler = [%s]\n" "$arm64/tree" "$compiler" >"$folder.ini"
		meson setup --cross-file meson/aarch64.ini --cross-file "$folder.ini" -Dwerror=true -Dtests=enabled \
			"$folder" >/dev/null
	fi
	ninja -C "$folder" --quiet "$@"
}

# wrap_arm64 COMPILER: $arm64/COMPILER-qemu stands for a build whose programs this machine can run
wrap_arm64() {
	wrapped=$arm64/$1-qemu
	mkdir -p "$wrapped/app"
	for program in "$arm64/$1"/app/*; do
		if [ -f "$program" ] && [ -x "$program" ]; then
			printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' \
				"$arm64/tree" "$program" >"$wrapped/app/${program##*/}"
			chmod +x "$wrapped/app/${program##*/}"
		fi
	done
	ln -sfn "$arm64/$1/tables" "$wrapped/tables"
}
