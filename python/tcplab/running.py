"""Experiments and populations on stacks."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from tcplab import _command, _native, _notes, _page, _progress, _records, errors
from tcplab._arguments import names, whole
from tcplab._native import Table
from tcplab._page import Page
from tcplab.experiment import Experiment, to_toml

__all__ = ["PopulationResult", "Run", "population", "run"]

#: What can be run: a file, its text, an experiment in code, or a dict of the file's tables.
Wanted = Union[str, "os.PathLike[str]", Experiment, Mapping[str, Any]]


class _Result(Page):
    """A document, and the page that the command writes of the same run."""

    def __init__(self, answer: _command.Answer, source: tuple[list[str | os.PathLike[str]], bytes | None]) -> None:
        self._answer = answer
        self._source = source

    def to_dict(self) -> dict[str, Any]:
        """Returns the command's JSON document."""
        return self._answer.document

    @property
    def messages(self) -> list[str]:
        """First the command's messages on standard error, then the warnings of points."""
        return [*self._answer.messages, *self._new_notes()]

    def _new_notes(self) -> list[str]:
        """Warnings that the command has not said."""
        return _notes.unsaid(self._notes(), self._answer.messages)

    def _notes(self) -> list[str]:
        """The warnings of the document, each once."""
        raise NotImplementedError

    def _warn(self) -> None:
        _notes.warn(self._new_notes())

    def _page_arguments(self) -> tuple[list[str | os.PathLike[str]], bytes | None]:
        return self._source


class Run(_Result):
    """The result of a run (schema ``tcplab.run/1``).

    Column ``point`` of the tables is the number of the run, counted from 0. Times are nanoseconds after the run's start.
    """

    def __init__(
        self,
        answer: _command.Answer,
        source: tuple[list[str | os.PathLike[str]], bytes | None],
        out: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(answer, source)
        self._out = out

    @functools.cached_property
    def captures(self) -> Table:
        """A row for each capture that was kept: point, host, interface, and the path for :func:`tcplab.analyze`."""
        if self._out is None:
            raise errors.UsageError("captures are kept in a result folder: call tl.run with out=FOLDER")
        rows: list[list[Any]] = []
        for path in sorted(Path(self._out).glob("points/*/*.pcapng")):
            host, interface = path.stem.rsplit(".", 1)
            rows.append([int(path.parent.name), host, interface, str(path)])
        columns = [
            ("point", "int", "", "Number of the run, from 0."),
            ("host", "text", "", "Host whose interface it is."),
            ("interface", "text", "", "Interface that captured."),
            ("path", "text", "", "Path of the capture."),
        ]
        return Table.of("captures", columns, rows)

    @functools.cached_property
    def _tables(self) -> dict[str, Table]:
        return _native.run_tables(self._answer.text)

    @property
    def points(self) -> Table:
        """A row for each point and stack: axes, seed, and measures with their units."""
        return self._tables["points"]

    @property
    def summary(self) -> Table:
        """A row for each measure, stack and combination of axis values: the mean over repetitions and its 95 % interval."""
        return self._tables["summary"]

    def verdicts(self, base: str | None = None) -> Table:
        """Returns a row for each measure in each arm: change against the baseline, interval and verdict.

        The verdicts are those that ``tcplab run`` prints (docs/compare.md). Without repetitions there are no rows.

        Parameters
        ----------
        base
            Baseline: the variant with which the other variants are compared; None: the first variant.
        """
        if base is not None and base not in self.points.to_dict().get("variant", []):
            raise errors.UsageError(f"no variant `{base}` in this run")
        return _native.run_verdicts(self._answer.text, base)

    @functools.cached_property
    def warnings(self) -> Table:
        """A row for each warning of a point: point, stack, kind, message.

        Kind ``left_out``: the stack ignored a setting, as ``tolerate`` allows. ``unverified``: the profile was never
        compared with its kernel. ``unfinished``: the run reached ``max``. ``failed``: an error ended connections.
        ``missing``: a measure has no value. ``warning``: any other warning. Each warning, unless its kind is ``missing``,
        is also raised as :class:`tcplab.TcplabWarning`.
        """
        return _notes.table(self.to_dict()["points"])

    def _notes(self) -> list[str]:
        return _notes.texts(self.to_dict()["points"])

    @property
    def connections(self) -> Table:
        """A row for each end of each connection."""
        return self._tables["connections"]

    @property
    def latencies(self) -> Table:
        """A row for each transaction: the first 100,000 transactions of each end of a connection."""
        return self._tables["latencies"]

    @property
    def pings(self) -> Table:
        """A row for each ping."""
        return self._tables["pings"]

    @property
    def tcp_info(self) -> Table:
        """Samples of ``struct tcp_info`` over time, in the kernel's units (``run.tcp_info``)."""
        return self._tables["tcp_info"]

    @property
    def links(self) -> Table:
        """Samples of each direction of each link, one per ``run.link_every``."""
        return self._tables["links"]

    @property
    def link_totals(self) -> Table:
        """Totals of each direction of each link."""
        return self._tables["link_totals"]

    @property
    def counters(self) -> Table:
        """The kernel's counters of each host, by nstat's names."""
        return self._tables["counters"]

    @property
    def folder(self) -> Path | None:
        """The result folder (``out``), which :func:`tcplab.compare` accepts; None: the run kept no folder."""
        return None if self._out is None else Path(self._out)

    @property
    def digests(self) -> list[str]:
        """SHA-256 of each point's result and captures. In virtual time, equal runs have equal digests."""
        return [point["digest"] for point in self.to_dict()["points"]]

    def plot(self, x: str | None = None, y: str | None = None, color: str | None = None, *, library: str | None = None) -> Any:
        """Draws a measure over an axis; see :func:`tcplab.plot.points`."""
        from tcplab import plot

        return plot.points(self, x=x, y=y, color=color, library=library)

    def __repr__(self) -> str:
        said = self.to_dict()
        stacks = ", ".join(dict.fromkeys(point["stack"] for point in said["points"]))
        return f"<Run of {said['experiment']}: {len(said['points'])} points on {stacks}>"


class PopulationResult(_Result):
    """The result of a population (schema ``tcplab.population/1``; with variants ``tcplab.population-variants/1``)."""

    def _notes(self) -> list[str]:
        said = self.to_dict()
        stacks = dict.fromkeys(str(one.get("stack", "")) for one in [said, *said.get("variants", [])])
        return [note for stack in stacks if (note := _native.unverified(stack)) is not None]

    @functools.cached_property
    def rows(self) -> Table:
        """A row for each quantity in each arm: its change from the baseline, the interval of the change, and the verdict."""
        said = self.to_dict()
        if "variants" in said:
            return _records.table("rows", [{"variant": one["variant"], **row} for one in said["variants"] for row in one["rows"]])
        return _records.table("rows", said["rows"])

    @functools.cached_property
    def arms(self) -> Table:
        """Totals and means of each arm's connections."""
        said = self.to_dict()
        several = said.get("variants") or [said]
        return _records.table("arms", [_named(one, arm) for one in several for arm in one["arms"]])

    def __repr__(self) -> str:
        said = self.to_dict()
        return f"<Population {said.get('experiment', '')}: {len(self.rows)} rows>"


def _named(document: Mapping[str, Any], arm: Mapping[str, Any]) -> dict[str, Any]:
    variant = document.get("variant")
    return {**({} if variant is None else {"variant": variant}), **arm}


def source_of(wanted: Wanted) -> tuple[str | os.PathLike[str], bytes | None]:
    """The command's argument for an experiment, and what it reads as ``-``."""
    if isinstance(wanted, Experiment):
        return "-", wanted.to_toml().encode()
    if isinstance(wanted, Mapping):
        return "-", to_toml(wanted).encode()
    if isinstance(wanted, str) and "\n" in wanted:
        return "-", wanted.encode()
    if not isinstance(wanted, (str, os.PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise errors.UsageError(f"an experiment is a path, a text, a dict or tl.experiment(...), no {type(wanted).__name__}")
    return wanted, None


def choice(
    on: str | Sequence[str] | None,
    changes: Mapping[str, Any] | None,
    repeat: int | None,
    seed: int | None,
    connections: int | None,
    variants: Sequence[str],
) -> list[str]:
    """The options that say what runs, for one machine as for a cluster."""
    return _command.words(
        on=names("on", on),
        set=changes,
        repeat=whole("repeat", repeat, 1),
        seed=whole("seed", seed),
        connections=whole("connections", connections, 1),
        variant=[variants] if isinstance(variants, str) else variants,
    )


def run(
    experiment: Wanted,
    *,
    on: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    repeat: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    connections: int | None = None,
    variants: Sequence[str] = (),
    progress: _progress.Wanted = None,
) -> Run | PopulationResult:
    """Runs an experiment, or a population.

    Parameters
    ----------
    experiment
        Path of an experiment file (docs/experiment.md) or of an earlier ``manifest.json``; or the file's text, a dict of
        the file's tables, or a result of :func:`tcplab.experiment`.
    on
        Stacks to run on, instead of the file's: ``model``, ``model:linux-6.6``, ``uml:6.1``, ``host``, ``ssh:A,B``.
    set
        Changes to the file: ``{"link.isp-home.a_to_b.rate": "1mbit"}``. A list, a range or :func:`tcplab.axis` makes an
        axis. If a key's value is a list, write a list of lists: ``{"app.web.sizes": [["10k", "20k"], ["5k"]]}`` makes two
        points, ``[["10k", "20k"]]`` makes one point. A text is always one value, even if it has commas.
    repeat
        How often each point is run; each run has its own seed.
    seed
        Seed of all random streams.
    jobs
        How many points run in parallel; None: one per processor. On real-time stacks points always run one by one.
    out
        Folder that keeps results and captures; the same call resumes an interrupted run.
    connections
        Only for a population: connections per arm.
    variants
        Only for a population: run only these variants.
    progress
        None: on a terminal or in a notebook, show tqdm's bar. False: show no bar. A callable with the interface of
        ``tqdm.tqdm`` is used instead of tqdm.

    Returns
    -------
    Run or PopulationResult

    Raises
    ------
    InputError
        The file is missing or invalid. The message names the file, the line and the remedy.
    UsageError
        A stack or an option does not exist.
    CannotRun
        A stack does not honour a setting, or is not available here; nothing was run.
    Inconclusive
        A limit ended a point before the point had a result. ``error.document`` has the other points.

    Examples
    --------
    >>> tl.run("examples/delayed-ack.toml", on="uml:6.1").points          # doctest: +SKIP
    """
    path, stdin = source_of(experiment)
    args: list[str | os.PathLike[str]] = ["run", path, *choice(on, set, repeat, seed, connections, variants)]
    args += _command.words(jobs=whole("jobs", jobs, 1))
    kept = [*args, f"--out={os.fspath(out)}"] if out is not None else args
    folder = _page.in_notebook()
    answer = _command.document([*kept, *_page.option(folder)], stdin=stdin, progress=_progress.of(progress))
    is_run = answer.document["schema"].startswith("tcplab.run/")
    result = Run(answer, (kept, stdin), out) if is_run else PopulationResult(answer, (kept, stdin))
    result._folder = folder  # pyright: ignore[reportPrivateUsage]
    result._warn()  # pyright: ignore[reportPrivateUsage]
    return result


def population(
    experiment: Wanted,
    *,
    connections: int | None = None,
    rows: bool = False,
    on: str | None = None,
    seed: int | None = None,
    variants: Sequence[str] = (),
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: _progress.Wanted = None,
) -> PopulationResult:
    """Runs a population: the same random connections in every arm.

    Parameters
    ----------
    experiment
        Path of a file with a ``[population]`` table (docs/population.md); or the file's text, or a dict of its tables.
    connections
        Connections per arm; None: as in the file.
    rows
        Write a row for each connection and arm to ``rows.parquet`` in the folder ``out``.
    on
        ``model`` or ``model:PROFILE``.
    seed, variants, jobs, out, progress
        As in :func:`run`.

    Returns
    -------
    PopulationResult
    """
    path, stdin = source_of(experiment)
    args: list[str | os.PathLike[str]] = ["run", path]
    args += choice(on, None, None, seed, connections, variants)
    args += _command.words(jobs=whole("jobs", jobs, 1))
    kept = [*args, *_command.words(out=out, rows=rows)]
    answer = _command.document(kept, stdin=stdin, progress=_progress.of(progress))
    if not answer.document["schema"].startswith("tcplab.population"):
        raise errors.UsageError("the file has no [population] table: use tl.run")
    result = PopulationResult(answer, (kept, stdin))
    result._warn()  # pyright: ignore[reportPrivateUsage]
    return result

