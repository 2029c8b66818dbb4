# SPDX-License-Identifier: BSD-3-Clause
"""What bounds each figure, by the profile."""

from benchmark.measure import tables
from benchmark.report import stages
from evaluation.report.document import Bullets, Heading, Paragraph


def _share(found, names):
    return sum(found.get(name, 0.0) for name in names) / sum(found.values())


def _one_lane(found, results):
    """Of packets with one lane."""
    items = []
    for engine, one in found.items():
        result = results[f"netfc {engine}"]
        device = _share(one, (stages.DEVICE, stages.SWAP))
        packet = _share(one, (stages.PACKET,))
        items.append(
            f"`{engine}`: of {result['cycles']:.0f} cycles a packet, {device:.0%} are the device's"
            f" and the swap of addresses, which testpmd 5tswap spends as well,"
            f" {packet:.0%} parsing, status and checksum. So it reaches"
            f" {tables.ratio(result, tables.SWAP)} of 5tswap and"
            f" {tables.ratio(result, tables.SUM)} of csum; were computing free, 5tswap would be"
            " the limit."
        )
    return items


def _of_lane(one, lanes):
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


def _many_lanes(found, results, alone, lanes):
    items = []
    for engine, one in found.items():
        result, bare = results[f"netfc {engine}"], alone[f"{engine}, {lanes}"]["bare"]
        text = f"`{engine}`: of {result['lane_cycles']:.2f} cycles a lane {_of_lane(one, lanes)}."
        if bare is not None:
            ratio = bare["least"] / result["lane_cycles"]
            text += (
                f" DPDK's own bulk function takes {bare['least']:.2f} cycles for the same look-ups,"
                f" {ratio:.2f} of the whole switch."
            )
        if stages.LOOK_UPS not in one:
            text += f" At {result['gbit']:.0f} Gbit/s a link is the nearer limit."
        items.append(text)
    return items


def _start(startup):
    return (
        f"`lpm`: of {startup['processor']['median']:.2f} s of processor time,"
        f" {startup['system']['median']:.2f} s are the operating system's, above all for the 64 MB of each"
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
        Bullets(_one_lane(stages.of_engines(cells, alone, 1), few["results"])),
        Paragraph(f"{lanes} lanes per packet:"),
        Bullets(
            _many_lanes(stages.of_engines(cells, alone, lanes), many["results"], alone, lanes)
        ),
        Paragraph("Start:"),
        Bullets([_start(results["done"]["startup"]["lpm"])]),
    ]
