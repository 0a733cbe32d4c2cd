"""Charts, by Altair or Matplotlib, whichever is installed."""

from __future__ import annotations

import importlib
import math
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tcplab import errors

if TYPE_CHECKING:
    from tcplab._native import Table
    from tcplab.running import Run

__all__ = ["budget", "lines", "points"]


#: The libraries, and the module of each.
LIBRARIES = {"altair": "altair", "matplotlib": "matplotlib.pyplot"}


def _library(wanted: str | None) -> tuple[str, Any]:
    if wanted is not None and wanted not in LIBRARIES:
        raise errors.UsageError(f"library={wanted!r}: it is one of {', '.join(LIBRARIES)}, or None for whichever is installed")
    for name, module in LIBRARIES.items():
        if wanted in (None, name):
            try:
                return name, importlib.import_module(module)
            except ImportError:
                continue
    raise errors.CannotRun(
        f"charts need {wanted or 'altair or matplotlib'}, which is not installed: pip install 'tcplab[plot]'"
    )


def _records(table: Any, columns: Sequence[str]) -> list[dict[str, Any]]:
    if isinstance(table, list):
        rows = cast("list[dict[str, Any]]", table)
        for number, row in enumerate(rows):
            if missing := [name for name in columns if name not in row]:
                raise errors.UsageError(f"row {number} has no `{missing[0]}`; its keys are {', '.join(map(str, row))}")
        return [{name: row[name] for name in columns} for row in rows]
    values = [table[name] for name in columns]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _titled(table: Any, column: str) -> str:
    unit = getattr(table, "units", {}).get(column, "")
    return f"{column} [{unit}]" if unit and not column.endswith(f"_{unit}") else column


def _field(column: str) -> str:
    """A column as Vega-Lite names it: a bare dot or bracket would reach into an object."""
    return re.sub(r"([.\[\]])", r"\\\1", column)


def _number(value: Any) -> Any:
    """A number, also one that is a text; anything else as it is."""
    if isinstance(value, (bool, int, float)):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    return number if math.isfinite(number) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def lines(
    table: Any, x: str, y: str, color: str | None = None, *, points: bool = False, library: str | None = None
) -> Any:
    """Draws a line for each value of ``color``.

    Parameters
    ----------
    table
        A :class:`tcplab.Table`, a data frame, or a list of dicts.
    x, y
        Columns for the x axis and the y axis. The titles of the axes show the units.
    color
        Column whose values distinguish the lines.
    points
        Mark each row.
    library
        ``"altair"`` or ``"matplotlib"``; None: whichever is installed.

    Returns
    -------
    altair.Chart or matplotlib.axes.Axes

    Raises
    ------
    CannotRun
        Neither library is installed.
    """
    rows = _records(table, [x, y, *([color] if color else [])])
    return _draw(rows, (x, y, color), (_titled(table, x), _titled(table, y)), points=points, library=library)


def _draw(
    rows: list[dict[str, Any]],
    columns: tuple[str, str, str | None],
    titles: tuple[str, str],
    *,
    points: bool,
    library: str | None,
) -> Any:
    name, module = _library(library)
    x, y, color = columns
    if not any(row[y] is not None for row in rows):
        raise errors.UsageError(f"`{y}` has no value in any row: there is nothing to draw")
    if name == "altair":
        is_numeric = all(row[x] is None or _is_number(row[x]) for row in rows)
        kind = "quantitative" if is_numeric else "nominal"
        channels: dict[str, Any] = {
            "x": module.X(field=_field(x), type=kind, title=titles[0], **({} if is_numeric else {"sort": None})),
            "y": module.Y(field=_field(y), type="quantitative", title=titles[1]),
        }
        if color:
            channels["color"] = module.Color(field=_field(color), type="nominal", title=color, sort=None)
        return module.Chart(module.Data(values=rows)).mark_line(point=points).encode(**channels)
    _, axes = module.subplots()
    for value in dict.fromkeys(row.get(color) if color else None for row in rows):
        own = [row for row in rows if not color or row[color] == value]
        axes.plot([row[x] for row in own], [row[y] for row in own], marker="o" if points else None, label=value)
    axes.set_xlabel(titles[0])
    axes.set_ylabel(titles[1])
    if color:
        axes.legend(title=color)
    return axes


def points(run: Run, *, x: str | None = None, y: str | None = None, color: str | None = None, library: str | None = None) -> Any:
    """Draws a measure of a run over one of its axes.

    Each combination of the other axes, variants and stacks has a line of its own. Only repetitions are averaged. If a
    point is a mean, the title of the y axis says so. For intervals see :attr:`tcplab.Run.summary`.

    Parameters
    ----------
    run
        A result of :func:`tcplab.run`.
    x
        Axis of the run for the x axis; None: the first axis with several values, preferably numeric values.
    y
        The measure; None: the first measure that has a value.
    color
        The axis whose value begins the name of each line; None: the next axis with several values, if there is one.
    library
        As in :func:`lines`.

    Returns
    -------
    altair.Chart or matplotlib.axes.Axes

    Raises
    ------
    UsageError
        A column does not exist, or the measure has no value.
    """
    table = run.points
    own = table.columns
    for name in (x, y, color):
        if name is not None and name not in own:
            raise errors.UsageError(f"the run has no column `{name}`; its columns are {', '.join(own)}")
    axes = [name for name in own[1 : own.index("seed")] if name != "repeat" and len(set(table[name])) > 1]
    # A line needs numbers below it; stacks and variants tell lines apart.
    axes.sort(key=lambda name: not all(_is_number(_number(value)) for value in table[name]))
    y = y or _measure(table, own[own.index("error") + 1 :])
    x = x or (axes[0] if axes else "stack")
    first = [color] if color else []
    series = [*first, *(name for name in axes if name not in (x, color))]
    rows, runs = _means(table, x, y, series)
    if all(row[x] is None or _is_number(_number(row[x])) for row in rows):
        rows = [{**row, x: _number(row[x])} for row in rows]
        rows.sort(key=lambda row: (row[x] is None, row[x] or 0))
    title = _titled(table, y)
    if max(runs) > 1:
        few, most = min(n for n in runs if n > 0), max(runs)
        title += f", mean of {most} runs" if few == most else f", mean of {few} to {most} runs"
    key = ", ".join(series) or None
    return _draw(rows, (x, y, key), (_titled(table, x), title), points=True, library=library)


def _measure(table: Table, measures: Sequence[str]) -> str:
    """The first measure that has a value."""
    if not measures:
        raise errors.UsageError("the run has no measures to plot: name some in the experiment")
    return next((name for name in measures if any(value is not None for value in table[name])), measures[0])


def _means(table: Table, x: str, y: str, series: Sequence[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """A row for each place: ``x``, the name of its line, the mean of its repetitions; and the number of runs of each."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for row in _records(table, list(dict.fromkeys([x, y, *series]))):
        values = found.setdefault((row[x], *(row[name] for name in series)), [])
        if row[y] is not None:
            values.append(row[y])
    key = ", ".join(series)
    rows: list[dict[str, Any]] = []
    for place, values in found.items():
        line = {key: ", ".join("-" if one is None else str(one) for one in place[1:])} if series else {}
        rows.append({**line, x: place[0], y: sum(values) / len(values) if values else None})
    return rows, [len(values) for values in found.values()]


def budget(table: Table, *, library: str | None = None) -> Any:
    """Draws where the time of streams went: a bar for each stream, from :attr:`tcplab.Analysis.budget`.

    Parameters
    ----------
    table
        The budget.
    library
        As in :func:`lines`.

    Returns
    -------
    altair.Chart or matplotlib.axes.Axes
    """
    name, module = _library(library)
    rows: list[dict[str, Any]] = _records(table, ["file", "stream", "class", "time_us"])
    if len(files := {row["file"] for row in rows}) > 1:
        # Stream 0 of each file is a stream of its own.
        shared = len(os.path.commonprefix(list(files)).rpartition("/")[0])
        rows = [{**row, "stream": f"{row['file'][shared:].lstrip('/')} {row['stream']}"} for row in rows]
    if name == "altair":
        return (
            module.Chart(module.Data(values=rows))
            .mark_bar()
            .encode(
                x=module.X("time_us", type="quantitative", title="time [us]"),
                y=module.Y("stream", type="nominal"),
                color=module.Color("class", type="nominal"),
            )
        )
    _, axes = module.subplots()
    streams = list(dict.fromkeys(row["stream"] for row in rows))
    left = dict.fromkeys(streams, 0)
    for one in dict.fromkeys(row["class"] for row in rows):
        own = {row["stream"]: row["time_us"] for row in rows if row["class"] == one}
        widths = [own.get(stream, 0) for stream in streams]
        axes.barh([str(stream) for stream in streams], widths, left=[left[stream] for stream in streams], label=one)
        for stream, width in zip(streams, widths, strict=True):
            left[stream] += width
    axes.set_xlabel("time [us]")
    axes.set_ylabel("stream")
    axes.legend()
    return axes
