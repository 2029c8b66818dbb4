# SPDX-License-Identifier: BSD-3-Clause
"""What bounds each figure, by the profile."""

from benchmark import stages, tables
from evaluation.document import Bullets, Heading, Paragraph


def _share(found, names):
    return sum(found.get(name, 0.0) for name in names) / sum(found.values())


def _one_lane(found, results):
    """Of packets with one lane."""
    items = []
    for room, one in found.items():
        result = results[f"netfc {room}"]
        device = _share(one, (stages.DEVICE, stages.SWAP))
        packet = _share(one, (stages.PACKET,))
        items.append(
            f"`{room}`: of {result['cycles']:.0f} cycles a packet, {device:.0%} are the device's"
            f" and the swap of addresses, which testpmd 5tswap spends as well,"
            f" {packet:.0%} parsing, status and checksum. So it reaches"
            f" {tables.ratio(result, tables.SWAP)} of 5tswap and"
            f" {tables.ratio(result, tables.SUM)} of csum; were computing free, 5tswap would be"
            " the limit."
        )
    return items


def _kernel(room, one, result, lanes):
    device = _share(one, (stages.DEVICE, stages.SWAP))
    computing = one[stages.KERNEL] / lanes
    return (
        f"`{room}`: {computing:.2f} of {result['lane_cycles']:.2f} cycles a lane are the kernel's,"
        f" {device:.0%} of all cycles the device's, which copies every frame from the capture."
        f" At {result['gbit']:.0f} Gbit/s a link is the nearer limit."
    )


def _steps(room, one, result, alone, lanes):
    look_ups, steps, slots = (
        one.get(name, 0.0) / lanes for name in (stages.LOOK_UPS, stages.STEPS, stages.LANES)
    )
    text = (
        f"`{room}`: of {result['lane_cycles']:.2f} cycles a lane, {look_ups:.2f} are look-ups,"
        f" {steps:.2f} integer steps, {slots:.2f} moving lanes in and out of packets."
    )
    if alone["bare"] is not None:
        bare = alone["bare"]["least"]
        text += (
            f" The bare look-ups take {bare:.2f} cycles ({alone['ratio']['packets']:.2f} of whole"
            " packets in memory): no program that makes the same four look-ups a lane with"
            " that library can be faster."
        )
    return text


def _many_lanes(found, results, alone, lanes):
    items = []
    for room, one in found.items():
        result = results[f"netfc {room}"]
        if stages.KERNEL in one:
            items.append(_kernel(room, one, result, lanes))
        else:
            items.append(_steps(room, one, result, alone[f"{room}, {lanes}"], lanes))
    return items


def _start(startup):
    return (
        f"`lpm`: of {startup['processor']['median']:.2f} s of processor time,"
        f" {startup['system']['median']:.2f} s are the kernel's, above all for the 64 MB of each"
        " `rte_lpm`, one a table, which are cleared; most of the program's"
        f" {startup['user']['median']:.2f} s go to `rte_lpm_add()`, which compares a new rule with all"
        " rules of the same length. Half of the keys of a table without equal neighbours need a rule"
        " of full length, whatever the cover, so that this grows with the square of the table."
    )


def blocks(results, cells):
    """The last section."""
    alone = results["done"]["alone"]
    few, many = cells[0], cells[-1]
    lanes = many["cell"]["lanes"]
    return [
        Heading(2, "Limits"),
        Paragraph("What bounds these figures, by the cycles above."),
        Paragraph("One lane per packet:"),
        Bullets(_one_lane(stages.of_rooms(cells, alone, 1), few["results"])),
        Paragraph(f"{lanes} lanes per packet:"),
        Bullets(
            _many_lanes(stages.of_rooms(cells, alone, lanes), many["results"], alone, lanes)
        ),
        Paragraph("Start:"),
        Bullets([_start(results["done"]["startup"]["lpm"])]),
    ]
