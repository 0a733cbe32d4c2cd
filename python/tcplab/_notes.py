"""Warnings of a run's points: as a table, as lines, as warnings of Python."""

from __future__ import annotations

import inspect
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplab import _native, errors
from tcplab._native import Table

__all__ = ["table", "texts", "unsaid", "warn", "warn_of_profile"]

#: A point of the command's document.
Point = Mapping[str, Any]


def _of(point: Point) -> Iterator[tuple[str, str]]:
    """The warnings of a point: kind and message."""
    for text in point.get("warnings", ()):
        yield "warning", text
    for text in point.get("tolerated", ()):
        yield "left_out", text
    for name in point.get("kernel", "").split():
        if (note := _native.unverified(name)) is not None:
            yield "unverified", note
    if point.get("cut_short"):
        yield "unfinished", "the run reached `max` before its applications ended"
    for text in _errors(point.get("flows", ())):
        yield "failed", text
    for measure, why in point.get("missing", {}).items():
        yield "missing", f"{measure}: {why}"


def _errors(flows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Connections that an error ended, as the command words them."""
    connections = Counter(flow["app"] for flow in flows)
    ended = Counter((flow["app"], end, error) for flow in flows for end in ("client", "server") if (error := flow[end].get("error")))
    for (app, end, error), n in sorted(ended.items()):
        of = connections[app]
        which = "the connection" if n == of == 1 else f"all {n} connections" if n == of else f"{n} of {of} connections"
        yield f"{app}: {which} ended with {error} at the {end}"


def table(points: Sequence[Point]) -> Table:
    """A row for each warning of a point."""
    rows = [[at, point["stack"], kind, text] for at, point in enumerate(points) for kind, text in _of(point)]
    columns = [
        ("point", "int", "", "Number of the run, from 0."),
        ("stack", "text", "", "Stack that it ran on."),
        ("kind", "text", "", "warning, left_out, unverified, unfinished, failed or missing."),
        ("message", "text", "", "What it is about."),
    ]
    return Table.of("warnings", columns, rows)


def texts(points: Sequence[Point]) -> list[str]:
    """Each warning once; with the number of points, if only some have it."""
    count: dict[str, set[int]] = {}
    for at, point in enumerate(points):
        for kind, text in _of(point):
            if kind != "missing":
                count.setdefault(text, set()).add(at)
    every = len(points)
    return [text if len(ats) == every else f"{text} ({len(ats)} of {every} points)" for text, ats in count.items()]


def unsaid(notes: Sequence[str], messages: Sequence[str]) -> list[str]:
    """The notes that are in no message."""
    said = {message.removeprefix("tcplab: warning: ") for message in messages}
    return [note for note in notes if note not in said]


def warn(notes: Sequence[str]) -> None:
    """Warns at the line outside of this package that asked."""
    # `skip_file_prefixes` of Python 3.12 would do the same.
    inside = str(Path(__file__).parent) + os.sep
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, errors.TcplabWarning, stacklevel=level)


def warn_of_profile(stack: str) -> None:
    """Warns if a stack's profile was never compared with its kernel."""
    if (note := _native.unverified(stack)) is not None:
        warn([note])
