# SPDX-License-Identifier: BSD-3-Clause
"""The beginning of the report: what was measured, on what."""

from evaluation.report.document import Code, Heading, Paragraph, Table


def _machine(results):
    machine = results["machine"]
    virtual = "virtual machine" if machine["hypervisor"] else "no hypervisor"
    return [
        ["processor", f"{machine['cpu']} (family/model/stepping"
                      f" {machine['cpu_family_model_stepping']}), {virtual}"],
        ["CPUs", f"{machine['cpus']}, with {', '.join(machine['vector_units'])}"],
        ["TSC", f"{_tsc(results) / 1e9:.3f} GHz"],
        ["system", f"{machine['system']}, {machine['kernel']}"],
        ["DPDK", machine["dpdk"]],
        ["compiler", machine["compiler"]],
        ["dpdk-netfc", f"{machine['netfc']}, revision {machine['revision']}"],
        ["memory", results["memory"]],
        ["date", f"{results['date']}, {results['seconds'] / 60:.0f} minutes"],
    ]


def _tsc(results):
    return next(iter(results["done"]["alone"].values()))["tsc_hz"]


def blocks(results):
    """Title, method, machine."""
    settings = results["identity"]["settings"]
    return [
        Heading(1, "Performance"),
        Paragraph(
            "The switch with each of its match engines beside DPDK's testpmd, on the same core, with the"
            " same packets from the same driver (`net_pcap`, which repeats a capture and"
            f" drops what is sent), in {settings['rounds']} alternating rounds of"
            f" {settings['seconds']} s each. [How it is measured](benchmarking.md#beside-its-peers);"
            " [all numbers](performance/results.json)."
        ),
        Code(results["command"]),
        Table(["", ""], _machine(results), left=2),
    ]
