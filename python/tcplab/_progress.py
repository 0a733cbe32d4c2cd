"""Progress by tqdm's protocol: a bar in a terminal or a notebook, or whatever has ``update``, ``total`` and ``close``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Union

__all__ = ["Progress", "Wanted", "of"]

#: What a parameter ``progress`` takes.
Wanted = Union[bool, Callable[..., Any], None]


class Progress:
    """Moves a bar. It is made when there is something to show."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._bar: Any = None
        self._done = 0

    def at(self, done: int, total: int | None, what: str) -> None:
        """So much is done, of so much."""
        if self._bar is None:
            self._bar = self._make(total=total, unit=what if what == "B" else f" {what}", unit_scale=what == "B")
        if total is not None and self._bar.total != total:
            self._bar.total = total
        self._bar.update(done - self._done)
        self._done = done

    def close(self) -> None:
        """The bar is done."""
        if self._bar is not None:
            self._bar.close()


def of(wanted: Wanted) -> Progress | None:
    """What shows progress.

    Parameters
    ----------
    wanted
        ``None``: tqdm's bar where tqdm is installed and somebody looks (a terminal or a notebook). True: tqdm's bar.
        False: nothing. Anything that is called as ``tqdm.tqdm`` is, with ``total``, ``unit`` and ``unit_scale``.
    """
    if callable(wanted):
        return Progress(wanted)
    if wanted is False or (wanted is None and not is_watched()):
        return None
    try:
        with warnings.catch_warnings():
            # Without ipywidgets the bar is text, which needs no warning in the first cell of a notebook.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise
        return None
    return Progress(tqdm)


def is_notebook() -> bool:
    """Whether this is a notebook's kernel."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return hasattr(running, "kernel")


def is_watched() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    return is_notebook() or (sys.stderr is not None and sys.stderr.isatty())
