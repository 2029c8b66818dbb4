# SPDX-License-Identifier: BSD-3-Clause
"""What the report was measured on."""

from evaluation.report.document import table


def machine_table(results):
    """The machine and its system."""
    machine = results["machine"]
    virtual = "virtual machine" if machine["hypervisor"] else "no hypervisor"
    rows = [
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
    return table(["", ""], rows, left=2)


def _tsc(results):
    return next(iter(results["done"]["alone"].values()))["tsc_hz"]
