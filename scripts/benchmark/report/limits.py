# SPDX-License-Identifier: BSD-3-Clause
"""What bounds each figure, by the profile."""

from benchmark.report import stages


def share(found, names):
    """Of all cycles, those of some stages."""
    part = sum(found.get(name, 0.0) for name in names) / sum(found.values())
    return f"{part:.0%}"


def of_lane(one, lanes):
    """What a lane's cycles are spent on, in words."""
    words = {
        stages.LOOK_UPS: "look-ups",
        stages.STEPS: "integer steps",
        stages.LANES: "moving lanes in and out of packets",
        stages.KERNEL: "the kernel",
        stages.DEVICE: "the device, which copies every frame from the capture",
    }
    return ", ".join(
        f"{one[name] / lanes:.2f} {text}" for name, text in words.items() if one.get(name)
    )
