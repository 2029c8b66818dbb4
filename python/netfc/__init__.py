# SPDX-License-Identifier: BSD-3-Clause
"""NetFC in Python: floating-point arithmetic in the network, and by the same tables here.

    import netfc

    with netfc.Client("10.0.0.2") as client:  # a switch computes
        client.add([1.5, 2.5], 2.25)  # array([3.75, 4.75])

    tables = netfc.TableSet("fp16_k1024")  # libnetfc computes, the same bits
    tables.add([1.5, 2.5], 2.25)
    netfc.Format("fp16").exact("add", [1.5, 2.5], 2.25)  # correctly rounded
    netfc.TableSet("fp32_exact").div([1, 2], 3)  # float32, correctly rounded
    netfc.Function("rsqrt", "fp16")([4, 2])  # array([0.5, 0.70703125])

Further modules: netfc.control and netfc.telemetry (a running switch), netfc.protocol (datagrams as
bytes), netfc.capture (capture files), netfc.scapy (a layer, with python3-scapy), netfc.metrics
(Prometheus, with python3-prometheus-client).

TableSet, Function, Format.exact(), Fp32.exact(), known_sets() and known_functions() need libnetfc
(Debian: libnetfc1) of this package's version; all else does without. Arrays are numpy's: encodings
are uint16, numbers float64; of binary32 they are uint32 and float32.
"""

try:
    from netfc._native.libnetfc import Library
except ModuleNotFoundError as error:
    if error.name == "numpy":
        error.msg = "netfc needs numpy: install python3-numpy, or numpy with pip"
    raise
from netfc._native.version import VERSION as __version__
from netfc.client import Client, QueryResult, StatusError
from netfc.errors import (
    ClientError,
    ControlError,
    LibraryError,
    NetfcError,
    NoReplyError,
    TableSetError,
    TelemetryError,
)
from netfc.formats import FORMATS, Format, Fp32
from netfc.functions import FixedPoint, Function, known_functions
from netfc.protocol import OPS, SYMBOLS, Flag
from netfc.tables import Step, Table, TableSet, Walk, known_sets

__all__ = [
    "FORMATS",
    "OPS",
    "SYMBOLS",
    "Client",
    "ClientError",
    "ControlError",
    "FixedPoint",
    "Flag",
    "Format",
    "Fp32",
    "Function",
    "Library",
    "LibraryError",
    "NetfcError",
    "NoReplyError",
    "QueryResult",
    "StatusError",
    "Step",
    "Table",
    "TableSet",
    "TableSetError",
    "TelemetryError",
    "Walk",
    "__version__",
    "known_functions",
    "known_sets",
]
