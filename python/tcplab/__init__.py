"""A TCP laboratory: what TCP did in a capture and why; experiments in a simulator and on real kernels.

>>> import tcplab as tl
>>> analysis = tl.analyze("slow.pcapng")      # doctest: +SKIP
>>> analysis.findings                         # doctest: +SKIP
"""

from __future__ import annotations

import importlib

from tcplab import errors, plot
from tcplab._native import Table, __version__
from tcplab.analysis import Analysis, analyze
from tcplab.congestion import CongestionControl, Reno
from tcplab.errors import (
    CannotRun,
    Inconclusive,
    InputError,
    Interrupted,
    OutputError,
    TcplabError,
    TcplabWarning,
    UsageError,
)
from tcplab.experiment import App, Experiment, Host, Link, Variant, axis, experiment
from tcplab.running import PopulationResult, Run, population, run
from tcplab.tools import (
    Comparison,
    Drill,
    Explanation,
    compare,
    drill,
    examples,
    explain,
    kernel_build,
    profiles,
    stacks,
)
from tcplab.world import Ack, Change, Connection, End, LinkState, View, World

__all__ = [
    "Ack",
    "Analysis",
    "App",
    "CannotRun",
    "Change",
    "Comparison",
    "CongestionControl",
    "Connection",
    "Drill",
    "End",
    "Experiment",
    "Explanation",
    "Host",
    "Inconclusive",
    "InputError",
    "Interrupted",
    "Link",
    "LinkState",
    "OutputError",
    "PopulationResult",
    "Reno",
    "Run",
    "Table",
    "TcplabError",
    "TcplabWarning",
    "UsageError",
    "Variant",
    "View",
    "World",
    "__version__",
    "analyze",
    "axis",
    "compare",
    "drill",
    "errors",
    "examples",
    "experiment",
    "explain",
    "kernel_build",
    "plot",
    "population",
    "profiles",
    "run",
    "stacks",
]


def __getattr__(name: str) -> object:
    """Imports ``tcplab.distributed`` when it is used: it needs Dask, and a second."""
    if name == "distributed":
        return importlib.import_module("tcplab.distributed")
    raise AttributeError(f"module 'tcplab' has no attribute {name!r}")
