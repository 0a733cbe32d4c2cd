"""Tables of what a document lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tcplab._native import Table

__all__ = ["table"]

#: Units that stand at the end of a name.
UNITS = {"ns": "ns", "us": "us", "ms": "ms", "s": "s", "bytes": "bytes", "pkts": "packets", "bps": "bit/s", "percent": "%"}


def flat(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """An object without objects in it: ``{"a": {"b": 1}}`` is ``{"a_b": 1}``; a list is its JSON.

    An interval is two columns: ``interval_percent`` is ``interval_low_percent`` and ``interval_high_percent``.
    """
    out: dict[str, Any] = {}
    for key, value in record.items():
        name = before + key
        if key.split("_")[0] == "interval" and (value is None or isinstance(value, list)):
            low, high = cast("list[float]", value) or (None, None)
            out[name.replace("interval", "interval_low", 1)] = low
            out[name.replace("interval", "interval_high", 1)] = high
        elif isinstance(value, Mapping):
            out.update(flat(cast("Mapping[str, Any]", value), name + "_"))
        elif isinstance(value, list):
            out[name] = json.dumps(value)
        else:
            out[name] = value
    return out


def kind(values: Iterable[Any]) -> str:
    """The kind of a column."""
    kinds: set[type] = {type(value) for value in values if value is not None}
    if not kinds or kinds - {bool, int, float}:
        return "text"
    if kinds == {bool}:
        return "flag"
    return "int" if kinds == {int} else "float"


def table(name: str, records: Iterable[Mapping[str, Any]]) -> Table:
    """A row for each record; a column for each key, in the order in which keys appear.

    The unit of a column is the end of its name.
    """
    rows = [flat(record) for record in records]
    names = list(dict.fromkeys(key for row in rows for key in row))
    kinds = [kind(row.get(key) for row in rows) for key in names]
    columns = [
        (key, one, UNITS.get(key.rsplit("_", 1)[-1], "") if one in ("int", "float") else "", "")
        for key, one in zip(names, kinds, strict=True)
    ]
    cells = [
        [str(row[key]) if one == "text" and row.get(key) is not None else row.get(key) for key, one in zip(names, kinds, strict=True)]
        for row in rows
    ]
    return Table.of(name, columns, cells)
