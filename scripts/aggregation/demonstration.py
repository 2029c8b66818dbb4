# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a demonstration: sums in network namespaces, then something is killed."""

from command import CommandLine, narrator, write_json


def main(name, description, run, are_right, not_told):
    """Runs it, and ends with what went wrong, if anything did.

    run(build, values, say): gives the figures. are_right(figures): whether they are what was promised.
    not_told(figures): who was not told of what was killed, and why; None: all were.
    """
    parser = CommandLine(name, description)
    parser.add_argument("--values", type=int, default=1_000_000,
                        help="that each worker has (default %(default)s)")
    options = parser.parse_args()
    if not 1 <= options.values <= 100_000_000:
        parser.error("--values: give 1 to 100,000,000")
    with parser.in_namespaces(as_user=True):
        figures = run(options.build, options.values, narrator())
    write_json(options.json, figures)
    if not are_right(figures):
        parser.fail("that is not what was promised")
    reason = not_told(figures)
    if reason:
        parser.fail(reason)
