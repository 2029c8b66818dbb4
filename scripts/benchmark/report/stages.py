# SPDX-License-Identifier: BSD-3-Clause
"""Where the cycles of a packet go: differences of what was measured.

testpmd io receives and sends; 5tswap swaps addresses, too; netfc-timing has the pipeline without
ports, and its look-ups and integer steps one by one. What is left of the switch's cycles is what
none of these accounts for: polling, counting, caches that two programs share out differently.
"""

DEVICE = "receive and send"
SWAP = "swap addresses"
PACKET = "parse, status, checksum"
LANES = "lanes in and out"
STEPS = "integer steps"
LOOK_UPS = "look-ups"
KERNEL = "kernel"
REST = "rest"
NAMES = (DEVICE, SWAP, PACKET, LANES, STEPS, LOOK_UPS, KERNEL, REST)
LIMIT_OF_SECOND = 2.0  # a bar that is so much longer than the others is cut


def _least(alone, kind):
    return alone[kind]["least"]


def _fixed_and_lane(short, long):
    """Cycles of the pipeline per packet and per lane, from packets of few and of many lanes."""
    few, many = short["lanes_per_packet"], long["lanes_per_packet"]
    packet_few = _least(short, "packets") * few
    packet_many = _least(long, "packets") * many
    per_lane = (packet_many - packet_few) / (many - few)
    return max(packet_few - per_lane * few, 0.0), per_lane


def _in_kernel(long, per_lane):
    """A kernel may look up in the engine's stages, and then takes longer than these alone; or not."""
    look_ups = _least(long, "look_ups") if long["look_ups"] else per_lane
    if look_ups >= per_lane:
        return {KERNEL: per_lane}
    return {LOOK_UPS: look_ups, KERNEL: per_lane - look_ups}


def _computing(long, per_lane):
    """Cycles per lane by stage of what is done for each lane."""
    if long["kernel"] is not None:
        return _in_kernel(long, per_lane)
    look_ups = sum(_least(step, "cycles") for step in long["steps"] if step["look_up"])
    steps = sum(_least(step, "cycles") for step in long["steps"] if not step["look_up"])
    return {LOOK_UPS: look_ups, STEPS: steps, LANES: max(per_lane - look_ups - steps, 0.0)}


def of_engines(cells, alone, lanes):
    """Cycles per packet by stage, by engine.

    cells: comparisons over lanes per packet; alone: engines alone, by "engine, lanes per packet".
    """
    results = next(cell["results"] for cell in cells if cell["cell"]["lanes"] == lanes)
    ends = sorted({item["lanes_per_packet"] for item in alone.values()})
    device, by_engine = results["testpmd io"]["cycles"], {}
    for name in results:
        family, engine = name.split()
        if family == "netfc":
            short, long = (alone[f"{engine}, {end}"] for end in (ends[0], ends[-1]))
            fixed, per_lane = _fixed_and_lane(short, long)
            found = {DEVICE: device, SWAP: max(results["testpmd 5tswap"]["cycles"] - device, 0.0),
                     PACKET: fixed, **{stage: cycles * lanes for stage, cycles
                                       in _computing(long, per_lane).items()}}
            found[REST] = max(results[name]["cycles"] - sum(found.values()), 0.0)
            by_engine[engine] = found
    return by_engine


def readable_limit(heights):
    """An axis' limit that one bar far above the others does not spoil."""
    ordered = sorted(heights)
    second = ordered[-2] if len(ordered) > 1 else ordered[-1]
    return min(1.05 * ordered[-1], LIMIT_OF_SECOND * second)


def share(found, names):
    """Of all cycles, those of some."""
    part = sum(found.get(name, 0.0) for name in names) / sum(found.values())
    return f"{part:.0%}"


def of_lane(one, lanes):
    """What a lane's cycles are spent on, in words."""
    words = {
        LOOK_UPS: "look-ups",
        STEPS: "integer steps",
        LANES: "moving lanes in and out of packets",
        KERNEL: "the kernel",
        DEVICE: "the device, which copies every frame from the capture",
    }
    return ", ".join(
        f"{one[name] / lanes:.2f} {text}" for name, text in words.items() if one.get(name)
    )
