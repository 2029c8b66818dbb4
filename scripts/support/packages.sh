# SPDX-License-Identifier: BSD-3-Clause
# Debian packages by purpose; docs/dependencies.md says why each is needed. The names are the same in
# Debian 12 and 13 and in Ubuntu 24.04, but for those in the table below.

packages_telemetry=dpdk # dpdk-telemetry.py
packages_browser="chromium chromium-driver python3-matplotlib python3-selenium"
packages_torch="python3-torch python3-sklearn python3-matplotlib nftables"
case $(. /etc/os-release && echo "$ID $VERSION_ID") in
"debian 12") packages_telemetry=dpdk-dev ;;
ubuntu*) packages_browser= packages_torch= ;; # a snap there; not tried there
esac

packages_build="gcc libc6-dev meson ninja-build pkg-config libdpdk-dev libjansson-dev libmpfr-dev libpcap-dev nettle-dev
	zlib1g-dev"
if [ "$(uname -m)" = x86_64 ]; then
	packages_build="$packages_build libipsec-mb-dev" # Debian has it for no other processor
fi
packages_demo="python3 python3-numpy"
packages_report="python3-jinja2 python3-markdown python3-matplotlib"
packages_evaluation="$packages_report python3-sklearn"
packages_analysis="clang-tidy cppcheck"
packages_fuzz="clang libclang-rt-dev llvm"
packages_benchmark="dpdk-dev"
packages_count="valgrind"
packages_slowloris="nginx-light slowhttptest curl iproute2 ethtool python3-matplotlib"
packages_anycast="frr iproute2 ethtool"
packages_aggregation="iproute2 ethtool"
packages_calls="strace systemd iproute2 iputils-ping ethtool"
packages_allreduce="python3-torch nftables iproute2 ethtool"
packages_abi="abigail-tools binutils"
packages_mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran python3-mpi4py iproute2 ethtool"
packages_slurm="munge slurm-client slurmctld slurmd"
packages_mpi_programs="lammps lammps-examples hpcc quantum-espresso quantum-espresso-data petsc-dev"
packages_package="build-essential debhelper debootstrap dh-python libmpich-dev libopenmpi-dev"
packages_release="$packages_package $packages_abi lintian"
packages_python="black mypy pylint python3-numpy python3-pip python3-setuptools python3-venv python3-wheel"
packages_nic="qemu-system-x86 ipxe-qemu busybox-static cpio"
packages_releases="debootstrap stress-ng"
packages_arm64="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static debootstrap"
packages_monitoring="python3-prometheus-client"
packages_playground="clang lld wasi-libc libclang-rt-dev-wasm32 libjansson-dev"
packages_style="clang-format-19"
packages_test="clang libclang-rt-dev libcmocka-dev libpcap-dev
	python3-pytest python3-pytest-xdist python3-scapy tshark
	iproute2 iputils-ping prometheus faketime bash-completion systemd iperf3 ethtool make strace locales
	$packages_abi $packages_monitoring $packages_python $packages_style $packages_browser $packages_telemetry
	$packages_evaluation $packages_benchmark $packages_count $packages_slowloris
	$packages_anycast $packages_aggregation $packages_playground $packages_torch $packages_mpi"
