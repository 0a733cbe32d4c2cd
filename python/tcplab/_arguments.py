"""Arguments that are refused before anything runs: numbers, lists of files."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any, cast

from tcplab import errors

__all__ = ["entries", "files", "names", "whole", "wholes"]



def whole(name: str, value: Any, least: int = 0) -> int | None:
    """A whole number of at least ``least``, or None.

    Raises
    ------
    TypeError
        It is not a whole number; True and False are refused too.
    UsageError
        It is too small.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: a whole number, not {value!r}")
    number = operator.index(value)
    if number < least:
        raise errors.UsageError(f"{name}={number}: it must be at least {least}")
    return number


def wholes(name: str, values: Any) -> list[int]:
    """A list of whole numbers from 0."""
    if values is None or isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: a list of numbers such as {name}=[0, 3], not {values!r}")
    found = [whole(name, value) for value in cast("Iterable[Any]", values)]
    if None in found:
        raise TypeError(f"{name}: a list of numbers, without None")
    return cast("list[int]", found)


def names(name: str, values: str | Iterable[str] | None) -> list[str]:
    """A name, or a list of names; None: no names. An empty list is a mistake."""
    if values is None or isinstance(values, str):
        return [] if values is None else [values]
    found = list(values)
    if not found:
        raise errors.UsageError(f"{name}=[]: the list is empty; leave {name} out for the default")
    return found


def files(name: str, paths: Any) -> list[str | os.PathLike[str]]:
    """A path, or a list of paths. An empty list is a mistake: the command would take its default."""
    several: list[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not several:
        raise errors.UsageError(f"{name}: the list of files is empty")
    for one in several:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"{name}: a path or a list of paths, not {one!r}")
        if not os.fspath(cast("os.PathLike[str]", one)):
            raise errors.UsageError(f"{name}: a path is empty")
    return several


def entries(name: str, kind: str, values: Any) -> list[Any]:
    """A list of hosts, links and so on."""
    if isinstance(values, (str, dict)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: a list such as {name}=[{kind}], not {values!r}")
    return list(cast("Iterable[Any]", values))
