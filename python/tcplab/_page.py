"""The page of a result, in a notebook and as a file."""

from __future__ import annotations

import html
import os
import tempfile
import warnings
from pathlib import Path

from tcplab import _command, _progress, errors

__all__ = ["Page"]

#: The height of the page in a notebook.
HEIGHT_PX = 720

#: The name of its file.
PAGE = "page.html"


def in_notebook() -> tempfile.TemporaryDirectory[str] | None:
    """A folder for the page of a result that a notebook will show; elsewhere None, and the page is made when it is asked for."""
    return tempfile.TemporaryDirectory(prefix="tcplab-") if _progress.is_notebook() else None


def option(folder: tempfile.TemporaryDirectory[str] | None) -> list[str]:
    """The option that writes the page there."""
    return [] if folder is None else [f"--html={Path(folder.name) / PAGE}"]


class Page:
    """What has a page of the command's (``--html``)."""

    def _page_arguments(self) -> tuple[list[str | os.PathLike[str]], bytes | None]:
        """Sub-command and inputs of the command that writes the page, and its standard input."""
        raise NotImplementedError

    #: The folder of a page that was written with the result; it goes with the result.
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def html(self) -> str:
        """Returns the HTML page: one file that needs no network."""
        if self._folder is not None:
            return (Path(self._folder.name) / PAGE).read_text(encoding="utf-8")
        args, stdin = self._page_arguments()
        with tempfile.TemporaryDirectory(prefix="tcplab-") as folder:
            file = Path(folder) / PAGE
            with warnings.catch_warnings():
                # They were said when the result was made.
                warnings.simplefilter("ignore", errors.TcplabWarning)
                _command.document([*args, f"--html={file}"], stdin=stdin, expected=(0, 1, 2, 3))
            return file.read_text(encoding="utf-8")

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Writes the HTML page.

        Parameters
        ----------
        path
            The file.
        """
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str | None:
        try:
            page = self.html()
        except errors.TcplabError:
            # The notebook shows the text then.
            return None
        inside = html.escape(page, quote=True)
        return (
            f'<iframe srcdoc="{inside}" sandbox="allow-scripts allow-popups" '
            f'style="width:100%;height:{HEIGHT_PX}px;border:0"></iframe>'
        )
