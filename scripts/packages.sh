# SPDX-License-Identifier: BSD-3-Clause
# Debian packages by purpose; docs/dependencies.md says why each is needed.

packages_build="gcc libc6-dev meson ninja-build pkg-config libdpdk-dev libjansson-dev zlib1g-dev"
packages_demo="python3 python3-numpy"
packages_evaluation="python3-matplotlib python3-sklearn"
packages_analysis="clang-tidy cppcheck"
packages_fuzz="clang libclang-rt-14-dev llvm-14"
packages_benchmark="dpdk-dev"
packages_count="valgrind"
packages_slowloris="nginx-light slowhttptest curl iproute2 ethtool python3-matplotlib"
packages_anycast="frr iproute2 ethtool"
packages_package="build-essential debhelper debootstrap dh-python"
packages_python="black mypy pylint python3-numpy python3-pip python3-setuptools python3-venv python3-wheel"
packages_monitoring="python3-prometheus-client"
packages_test="clang clang-format libclang-rt-14-dev libcmocka-dev libmpfr-dev libpcap-dev
	python3-pytest python3-pytest-xdist python3-scapy tshark
	iproute2 iputils-ping prometheus faketime bash-completion systemd $packages_monitoring $packages_python iperf3 ethtool chromium strace
	$packages_evaluation $packages_benchmark $packages_count $packages_slowloris
	$packages_anycast"
