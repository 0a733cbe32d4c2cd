"""A TCP laboratory: what TCP did in a capture and why; experiments in a simulator and on real kernels.

>>> import tcplab as tl
>>> analysis = tl.analyze("slow.pcapng")      # doctest: +SKIP
>>> analysis.findings                         # doctest: +SKIP
"""

from __future__ import annotations

from tcplab import errors
from tcplab._native import Table, __version__
from tcplab.errors import (
    CannotRun,
    Inconclusive,
    InputError,
    Interrupted,
    OutputError,
    TcplabError,
    UsageError,
)

__all__ = [
    "CannotRun",
    "Inconclusive",
    "InputError",
    "Interrupted",
    "OutputError",
    "Table",
    "TcplabError",
    "UsageError",
    "__version__",
    "errors",
]
