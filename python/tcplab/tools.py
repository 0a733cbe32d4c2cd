"""Scripts, comparisons, stacks and kernels."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from tcplab import _command, _native, _progress, _records, errors
from tcplab._arguments import files, whole, wholes
from tcplab._native import Table
from tcplab._notes import warn_of_profile
from tcplab._page import Page
from tcplab.running import Run

__all__ = ["Comparison", "Drill", "Explanation", "compare", "drill", "examples", "explain", "kernel_build", "profiles", "stacks"]


class _Document:
    """A result with the command's document."""

    def __init__(self, answer: _command.Answer) -> None:
        self._answer = answer

    def to_dict(self) -> dict[str, Any]:
        """Returns the command's JSON document."""
        return self._answer.document


class Drill(_Document):
    """The results of packetdrill scripts (schema ``tcplab.drill/1``)."""

    @functools.cached_property
    def cases(self) -> Table:
        """A row for each script in each IP mode: verdict, line, reason."""
        return _records.table("cases", self.to_dict()["results"])

    @property
    def passed(self) -> int:
        """Number of cases that passed."""
        return self.to_dict()["passed"]

    @property
    def failed(self) -> int:
        """Number of cases that failed."""
        return self.to_dict()["failed"]

    @property
    def skipped(self) -> int:
        """Number of cases that cannot run on this stack."""
        return self.to_dict()["skipped"]

    def __repr__(self) -> str:
        said = self.to_dict()
        return f"<Drill on {said['stack']}: {self.passed} passed, {self.failed} failed, {self.skipped} skipped>"


def drill(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    on: str = "model",
    define: Mapping[str, str] | None = None,
    tolerance_us: int | None = None,
    jobs: int | None = None,
    progress: _progress.Wanted = None,
) -> Drill:
    """Runs packetdrill scripts.

    Parameters
    ----------
    paths
        Scripts, or folders with ``*.pkt``.
    on
        ``model``, ``model:PROFILE``, ``uml:NAME`` or ``host``.
    define
        Values of symbols in the scripts.
    tolerance_us
        Accept events up to this many microseconds early or late; None: use the tolerance of each script.
    jobs
        How many cases run in parallel; None: one per processor.
    progress
        As in :func:`tcplab.run`.

    Returns
    -------
    Drill
        Failed cases are a result, not an error.
    """
    several = files("paths", paths)
    options = _command.words(on=on, tolerance_us=whole("tolerance_us", tolerance_us), jobs=whole("jobs", jobs, 1))
    options += [f"--define={name}={value}" for name, value in (define or {}).items()]
    answer = _command.document(["drill", *several, *options], progress=_progress.of(progress), expected=(0, 1))
    warn_of_profile(answer.document["stack"])
    return Drill(answer)


class Comparison(_Document, Page):
    """Results before and after a change (schema ``tcplab.compare/1``)."""

    def __init__(self, answer: _command.Answer, args: list[str | os.PathLike[str]]) -> None:
        super().__init__(answer)
        self._args = args

    @functools.cached_property
    def rows(self) -> Table:
        """A row for each metric: its values before and after, change, interval, verdict."""
        return _records.table("rows", self.to_dict()["rows"])

    @property
    def summary(self) -> dict[str, int]:
        """Number of rows with each verdict."""
        return self.to_dict()["summary"]

    def _page_arguments(self) -> tuple[list[str | os.PathLike[str]], bytes | None]:
        return self._args, None

    def __repr__(self) -> str:
        words = ", ".join(f"{n} {verdict}" for verdict, n in self.summary.items())
        return f"<Comparison: {words}>"


def compare(
    before: Run | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    after: Run | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    *,
    arms: tuple[str, str] | None = None,
    band_percent: float | None = None,
    find_percent: float | None = None,
    sampled: bool = False,
) -> Comparison:
    """Compares results: one verdict for each metric.

    Parameters
    ----------
    before, after
        Results of tcplab, iperf3, netperf, flent, wrk and others (docs/compare.md). Each argument is a file, a folder, a
        list of files (one for each run), or a :class:`Run` with a folder. Without ``after``, ``before`` is one file or
        folder that holds the two arms.
    arms
        Names of the two arms to compare, if the files have more than two arms.
    band_percent
        Changes up to this many percent count as equal.
    find_percent
        The change in percent that the runs must be able to detect.
    sampled
        True: treat runs in virtual time, each with another seed, as random samples; verdicts come from intervals.
        False: treat runs in virtual time as exact; every difference counts.

    Returns
    -------
    Comparison
    """
    first, second = _side("before", before), _side("after", after)
    args: list[str | os.PathLike[str]] = ["compare"]
    if isinstance(first, (str, os.PathLike)) and (second is None or isinstance(second, (str, os.PathLike))):
        args += [first] if second is None else [first, second]
    elif second is None:
        raise errors.UsageError("a list of files before a change needs those after it")
    else:
        args += _command.words(before=files("before", first), after=files("after", second))
    args += _command.words(arms=",".join(arms) if arms else None, band=band_percent, find=find_percent, sampled=sampled)
    return Comparison(_command.document(args), args)


#: Results of one side.
Side = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]


def _side(name: str, side: Run | Side | None) -> Side | None:
    """A run's result folder; a path or a list of paths."""
    if not isinstance(side, Run):
        if side is None:
            return None
        several = files(name, side)
        return several[0] if isinstance(side, (str, os.PathLike)) else several
    if side.folder is None:
        raise errors.UsageError("a run is compared by its result folder: call tl.run with out=FOLDER")
    return side.folder


class Explanation(_Document):
    """The stacks that may have sent the ACKs of a capture (schema ``tcplab.explain/1``)."""

    @functools.cached_property
    def receivers(self) -> Table:
        """A row for each receiver of data, with the profiles whose ACKs match those in the capture."""
        return _records.table("receivers", self.to_dict()["receivers"])

    def __repr__(self) -> str:
        return f"<Explanation of {self.to_dict()['file']}: {len(self.receivers)} receivers>"


def explain(capture: str | os.PathLike[str] | bytes, *, streams: Sequence[int] = ()) -> Explanation:
    """Finds the TCP stack that sent the ACKs of a capture.

    Parameters
    ----------
    capture
        A path, or bytes.
    streams
        Only these streams.

    Returns
    -------
    Explanation
        A receiver that no profile explains is a result, not an error.
    """
    stdin = capture if isinstance(capture, bytes) else None
    path = "-" if isinstance(capture, bytes) else capture
    options = _command.words(stream=",".join(map(str, wholes("streams", streams))) or None)
    return Explanation(_command.document(["explain", path, *options], stdin=stdin, expected=(0, 3)))


def stacks() -> Table:
    """Returns the kernels for the argument ``on`` of :func:`tcplab.run`.

    If a kernel is not available here, column ``lacks`` says what is missing and how to get it.

    The simulator, ``model``, is always available: see :func:`profiles`.
    """
    return _records.table("stacks", _command.document(["stacks"]).document["stacks"])


def profiles() -> Table:
    """Returns the simulator's profiles, for ``on="model:PROFILE"``. ``verified``: the profile was compared with its kernel."""
    return _records.table("profiles", _command.document(["stacks", "--profiles"]).document["profiles"])


def examples() -> dict[str, str]:
    """Returns the texts of tcplab's built-in experiments, by name."""
    return dict(_native.examples())


def kernel_build(
    version: str | None = None,
    *,
    source: str | os.PathLike[str] | None = None,
    edits: Sequence[str | os.PathLike[str]] = (),
    hz: int | None = None,
    name: str | None = None,
    jobs: int | None = None,
    install: bool = False,
) -> str:
    """Builds a Linux kernel for ``uml:`` stacks. The first build takes minutes; later calls reuse the kernel.

    Parameters
    ----------
    version
        Version of Debian's linux-source package: ``"6.1"`` or a release.
    source
        A source tree to build instead of a Debian version.
    edits
        Names of built-in edits, or paths of edits (TOML files).
    hz
        Timer frequency: 100, 250, 300 or 1000 Hz.
    name
        The stack will be ``uml:NAME``.
    jobs
        How many compilers run in parallel.
    install
        Install missing build tools by apt.

    Returns
    -------
    str
        Name of the stack, for ``on``.
    """
    args: list[str | os.PathLike[str]] = ["kernel", "build", *([version] if version else [])]
    args += _command.words(source=source, edit=edits, hz=hz, name=name, jobs=whole("jobs", jobs, 1), install=install)
    return _command.document(args).document["stack"]
