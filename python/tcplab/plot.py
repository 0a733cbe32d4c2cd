"""Charts, by Altair or Matplotlib, whichever is installed."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tcplab import errors

if TYPE_CHECKING:
    from tcplab._native import Table
    from tcplab.running import Run

__all__ = ["budget", "lines", "points"]


def _library(wanted: str | None) -> tuple[str, Any]:
    for name, module in (("altair", "altair"), ("matplotlib", "matplotlib.pyplot")):
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
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def lines(
    table: Any, x: str, y: str, color: str | None = None, *, points: bool = False, library: str | None = None
) -> Any:
    """Draws a line for each value of ``color``.

    Parameters
    ----------
    table
        A :class:`tcplab.Table`, a data frame, or a list of dicts.
    x, y
        Columns of the two axes; the axes' titles have the units.
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
    name, module = _library(library)
    rows = _records(table, [x, y, *([color] if color else [])])
    if name == "altair":
        kind = "quantitative" if all(isinstance(row[x], (int, float, type(None))) for row in rows) else "nominal"
        channels: dict[str, Any] = {
            "x": module.X(field=_field(x), type=kind, title=_titled(table, x), **({"sort": None} if kind == "nominal" else {})),
            "y": module.Y(field=_field(y), type="quantitative", title=_titled(table, y)),
        }
        if color:
            channels["color"] = module.Color(field=_field(color), type="nominal", title=color, sort=None)
        return module.Chart(module.Data(values=rows)).mark_line(point=points).encode(**channels)
    _, axes = module.subplots()
    for value in dict.fromkeys(row.get(color) if color else None for row in rows):
        own = [row for row in rows if not color or row[color] == value]
        axes.plot([row[x] for row in own], [row[y] for row in own], marker="o" if points else None, label=value)
    axes.set_xlabel(_titled(table, x))
    axes.set_ylabel(_titled(table, y))
    if color:
        axes.legend(title=color)
    return axes


def points(run: Run, *, x: str | None = None, y: str | None = None, color: str | None = None, library: str | None = None) -> Any:
    """Draws a measure of a run over one of its axes; of repeated points the mean (intervals: :attr:`tcplab.Run.summary`).

    Parameters
    ----------
    run
        A result of :func:`tcplab.run`.
    x
        The axis; None: the first axis with several values, a numeric one if possible.
    y
        The measure; None: the first.
    color
        Another axis; None: the next axis with several values, if any.
    library
        As in :func:`lines`.

    Returns
    -------
    altair.Chart or matplotlib.axes.Axes
    """
    table = run.points
    own = table.columns
    axes = [name for name in own[1 : own.index("seed")] if name != "repeat" and len(set(table[name])) > 1]
    measures = own[own.index("error") + 1 :]
    y = y or (measures[0] if measures else None)
    if y is None:
        raise errors.UsageError("the run has no measures to plot: name some in the experiment")
    # A line needs numbers below it; stacks and variants tell lines apart.
    axes.sort(key=lambda name: not all(isinstance(_number(value), float) for value in table[name]))
    x = x or (axes[0] if axes else "stack")
    color = color or next((name for name in axes if name != x), None)
    shown = _means(_numbered(table, [x, y, *([color] if color else [])]), x, y, color)
    return lines(shown, x, y, color, points=True, library=library)


def _means(table: Table, x: str, y: str, color: str | None) -> Table:
    """The means of the rows that have the same place."""
    names = [x, *([color] if color else [])]
    found: dict[tuple[Any, ...], list[float]] = {}
    for row in _records(table, [*names, y]):
        place = found.setdefault(tuple(row[name] for name in names), [])
        if row[y] is not None:
            place.append(row[y])
    from tcplab._native import Table as Made

    kinds = ["float" if isinstance(next(iter(found), (None,))[at], float) else "text" for at in range(len(names))]
    columns = [(name, kind, table.units.get(name, ""), table.descriptions.get(name, "")) for name, kind in zip(names, kinds, strict=True)]
    means = [[*place, sum(values) / len(values) if values else None] for place, values in found.items()]
    return Made.of(table.name, [*columns, (y, "float", table.units.get(y, ""), table.descriptions.get(y, ""))], means)


def _numbered(table: Table, columns: Sequence[str]) -> Table:
    """These columns, with values of axes that are all numbers as numbers."""
    from tcplab._native import Table as Made

    made: list[tuple[str, str, str, str]] = []
    values: list[list[Any]] = []
    for at, name in enumerate(columns):
        cells = [_number(cell) for cell in table[name]] if at < 2 else table[name]
        numeric = all(isinstance(cell, (int, float, type(None))) for cell in cells)
        made.append((name, "float" if numeric else "text", table.units.get(name, ""), table.descriptions.get(name, "")))
        values.append(cells if numeric else table[name])
    return Made.of(table.name, made, [list(row) for row in zip(*values, strict=True)])


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
