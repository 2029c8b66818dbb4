# SPDX-License-Identifier: BSD-3-Clause
"""Whole tables of functions of one number: z and the flags of every argument."""

import functools

import sanitized
import switch
import table_builder

import netfc

FLAGS = ('invalid', 'division by zero', 'overflow', 'underflow')


@functools.lru_cache(maxsize=None)
def table(*operands):
    """Of a format and a function, or of a file: a list of (z, flags).

    The library's own, which is quick; where a sanitizer keeps Python from loading it, what
    netfc-tables prints of each argument.
    """
    if sanitized.is_sanitized():
        return [(int(entry['result']['bits'], 16),
                 sum(1 << FLAGS.index(flag) for flag in entry['result']['flags']))
                for entry in table_builder.run_json('show', *operands)]
    library = netfc.Library(switch.BUILD)
    if len(operands) == 1:
        function = netfc.Function.load(operands[0], library)
    else:
        function = netfc.Function(operands[1], operands[0], library)
    return list(zip(function.entries.tolist(), function.entry_flags.tolist()))
