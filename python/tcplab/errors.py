"""What tcplab raises.

All errors are :class:`TcplabError`; the class says what kind it is, the message names the file and the place, what was
wrong, and the way out.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CannotRun",
    "Inconclusive",
    "InputError",
    "Interrupted",
    "OutputError",
    "TcplabError",
    "TcplabWarning",
    "UsageError",
]


class TcplabError(Exception):
    """Base class of tcplab's errors.

    Attributes
    ----------
    document : dict or None
        The command's document, with all results up to the error. If one point of a run failed, the document has the
        other points.
    """

    document: dict[str, Any] | None

    def __init__(self, message: str, document: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.document = document


class TcplabWarning(UserWarning):
    """A run has a result, but the result needs attention: for example, a profile is unverified or a setting changed nothing."""


class UsageError(TcplabError, ValueError):
    """An argument is wrong."""


class InputError(TcplabError, ValueError):
    """A file or a text cannot be read, or it is invalid."""


class OutputError(TcplabError, OSError):
    """A result cannot be written."""


class Inconclusive(TcplabError):
    """The command ended before it had a result."""


class CannotRun(TcplabError):
    """This machine, stack or build cannot do what was asked."""


class Interrupted(TcplabError):
    """A signal ended the command early; if there is a result folder, the same call resumes the run."""


#: The kinds of ``error.kind`` in the documents of the command.
KINDS: dict[str, type[TcplabError]] = {
    "usage": UsageError,
    "input": InputError,
    "output": OutputError,
    "inconclusive": Inconclusive,
    "cannot_run": CannotRun,
    "interrupted": Interrupted,
}


def of_record(record: dict[str, Any], document: dict[str, Any] | None) -> TcplabError:
    """The error of a document's ``error``."""
    kind = KINDS.get(str(record.get("kind")), TcplabError)
    return kind(str(record.get("message", "")), document)
