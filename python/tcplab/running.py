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
        """The command's messages on standard error, then the warnings of points."""
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

    Tables have a column ``point``, the number of the run from 0. Times are nanoseconds after the run's start.
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
        """A row for each measure, stack and combination of axis values: mean over repetitions, 95 % interval."""
        return self._tables["summary"]

    def verdicts(self, base: str | None = None) -> Table:
        """Returns a row for each measure in each arm, with its change over the repetitions, interval and verdict.

        They are those of the terminal (docs/compare.md). Without repetitions there are no rows.

        Parameters
        ----------
        base
            Variant with which the others are compared; None: the first one.
        """
        if base is not None and base not in self.points.to_dict().get("variant", []):
            raise errors.UsageError(f"no variant `{base}` in this run")
        return _native.run_verdicts(self._answer.text, base)

    @functools.cached_property
    def warnings(self) -> Table:
        """A row for each warning of a point: point, stack, kind, message.

        The kinds are ``warning``, ``left_out`` (a setting that the stack left out by ``tolerate``), ``unverified``
        (a profile that was never compared with its kernel), ``unfinished`` (the run reached ``max``), ``failed`` (an
        error ended connections) and ``missing`` (a measure without a value). All but ``missing`` are also raised as
        :class:`tcplab.TcplabWarning`.
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
        """A row for each transaction (the first 100,000 of an end)."""
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
        """SHA-256 of each point's result and captures: equal for equal runs in virtual time."""
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
    """The result of a population (schema ``tcplab.population/1``, or ``.../variants``)."""

    def _notes(self) -> list[str]:
        said = self.to_dict()
        stacks = dict.fromkeys(str(one.get("stack", "")) for one in [said, *said.get("variants", [])])
        return [note for stack in stacks if (note := _native.unverified(stack)) is not None]

    @functools.cached_property
    def rows(self) -> Table:
        """The table: each quantity's change in each arm from the baseline, with interval and verdict."""
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
        Path of a file (docs/experiment.md) or of an earlier ``manifest.json``; or the file's text, a dict of its
        tables, or a result of :func:`tcplab.experiment`.
    on
        Stacks instead of the file's: ``model``, ``model:linux-6.6``, ``uml:6.1``, ``host``, ``ssh:A,B``.
    set
        Changes to the file: ``{"link.isp-home.a_to_b.rate": "1mbit"}``. A list, a range or :func:`tcplab.axis` makes an
        axis. If a key's value is a list, write a list of lists: ``{"app.web.sizes": [["10k", "20k"], ["5k"]]}`` has two
        points, ``[["10k", "20k"]]`` one. A text is one value, also with commas.
    repeat
        How often each point is run; each run has its own seed.
    seed
        Seed of all random streams.
    jobs
        How many points run in parallel; on real-time stacks points run one by one. None: one per processor.
    out
        Folder that keeps results and captures; the same call resumes an interrupted run.
    connections
        Only for a population: connections per arm.
    variants
        Only for a population: run only these variants.
    progress
        None: tqdm's bar, on a terminal or in a notebook. False: no bar. Or a callable with the interface of
        ``tqdm.tqdm``.

    Returns
    -------
    Run or PopulationResult

    Raises
    ------
    InputError
        The file is missing, or has something that tcplab does not know; the message names file, line and remedy.
    UsageError
        A stack or an option does not exist.
    CannotRun
        A stack does not honour a setting, or is not available here; nothing was run.
    Inconclusive
        A limit ended a point before its result; ``error.document`` has the other points.

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
        Path of a file with a ``[population]`` table (docs/population.md), its text, or a dict.
    connections
        Connections per arm; None: as in the file.
    rows
        Keep a row for each connection and arm in ``out`` (``rows.parquet``).
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

