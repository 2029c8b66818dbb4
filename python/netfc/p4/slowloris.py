# SPDX-License-Identifier: BSD-3-Clause
"""The tables for the division in p4/include/slowloris.p4: logarithms of 32-bit integers, powers."""

import numpy

from netfc._native import libnetfc
from netfc.p4.table import Table
from netfc.tables import TableSet

# As lib/slowloris divides: bits below the leading one, bits of a logarithm, and the powers' set.
_BELOW, _LOG_BITS, _POWERS = 13, 15, "fp16_k1024"


def slowloris_tables() -> list[Table]:
    """The tables with which the detector divides connections by bytes."""
    paths = "slowloris.divide.log_connections.log slowloris.divide.log_bytes.log"
    logarithms = Table(paths, "integer/", "set(logarithm)", shared=True)
    function = libnetfc.default().functions.netfc_log2_prefixes
    keys, words, lengths = libnetfc.prefixes(function, _BELOW, _LOG_BITS).T
    logarithms.fill([keys], [words], lengths)
    powers = Table("slowloris.divide.exp", "n", "set(word)", shared=True)
    powers.fill([numpy.arange(1 << 16)], [TableSet(_POWERS).tables["exp"].entries[0]])
    return [logarithms, powers]
