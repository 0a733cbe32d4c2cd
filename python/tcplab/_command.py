"""The command ``tcplab``, which the wheel carries, run with ``--json``.

Experiments, scripts and kernels are run by the command in a process of its own: namespaces, guests and signals stay out of
Python, and the answer is the command's. Its progress comes as lines on standard error, Ctrl-C goes to it as SIGINT, and it
ends when the thread that started it does.
"""

from __future__ import annotations

import functools
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

from tcplab import errors
from tcplab._native import __version__
from tcplab._progress import Progress
from tcplab.experiment import Axis, plain, toml_value

__all__ = ["Answer", "command_path", "document", "words"]


class Answer:
    """What the command said: its exit code, its document, its messages."""

    code: int
    text: bytes
    messages: list[str]

    def __init__(self, code: int, text: bytes, messages: list[str]) -> None:
        self.code = code
        self.text = text
        self.messages = messages

    @functools.cached_property
    def document(self) -> dict[str, Any]:
        """The document."""
        return json.loads(self.text)


@functools.cache
def command_path() -> str:
    """Path of the command ``tcplab``.

    Returns
    -------
    str
        ``$TCPLAB_COMMAND``, or the command beside this Python, or the first in ``PATH``.

    Raises
    ------
    CannotRun
        There is none, or it is of another version than this module.
    """
    beside = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    if sys.platform == "linux" and (user := sysconfig.get_path("scripts", f"{os.name}_user")):
        beside.append(user)
    given = os.environ.get("TCPLAB_COMMAND")
    found = given or shutil.which("tcplab", path=os.pathsep.join(beside)) or shutil.which("tcplab")
    if found is None:
        raise errors.CannotRun(
            "the command `tcplab` is not beside this Python nor in PATH: install the wheel, or set TCPLAB_COMMAND to its path"
        )
    try:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    except OSError as e:
        raise errors.CannotRun(f"{found}: {e.strerror}; TCPLAB_COMMAND names another") from e
    version = said.stdout.strip().removeprefix("tcplab ")
    if version != __version__:
        raise errors.CannotRun(
            f"{found} is version {version or 'unknown'}, this module is {__version__}: install both from one wheel, "
            "or set TCPLAB_COMMAND to the path of the right one"
        )
    return found


def words(**options: Any) -> list[str]:
    """Options of a command line: ``seed=3`` is ``--seed=3``; None and False leave one out."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        elif isinstance(value, Mapping):
            changes = cast("Mapping[str, Any]", value)
            out += [f"{flag}={setting(key, one)}" for key, one in changes.items()]
        elif isinstance(value, (list, tuple)):
            out += [f"{flag}={text_of(one)}" for one in cast("Sequence[Any]", value)]
        else:
            out.append(f"{flag}={text_of(value)}")
    return out


def text_of(value: Any) -> str:
    """A path or a number as the command takes it."""
    return os.fspath(cast("os.PathLike[str]", value)) if isinstance(value, os.PathLike) else str(value)


def setting(key: str, value: Any) -> str:
    """``PATH=VALUE`` of ``--set``, the value as TOML: a list or a range makes an axis, and a list inside it is one value."""
    value = os.fspath(cast("os.PathLike[str]", value)) if isinstance(value, os.PathLike) else plain(value)
    if isinstance(value, (list, tuple)):
        value = Axis(cast("Sequence[Any]", value))
    if isinstance(value, Axis):
        if not value.values:
            raise errors.UsageError(f"{key}: the list of values is empty")
        value = Axis(value.values, value.name or key)
    return f"{key}={toml_value(value, key)}"


def document(
    args: Sequence[str | os.PathLike[str]],
    *,
    stdin: bytes | None = None,
    progress: Progress | None = None,
    expected: Sequence[int] = (0,),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    as_json: bool = True,
) -> Answer:
    """Runs the command with ``--json`` and waits for its document.

    Parameters
    ----------
    args
        Sub-command and options.
    stdin
        What it reads as ``-``.
    progress
        Told how far it is.
    expected
        Exit codes that are answers.
    cwd
        Its folder.
    env
        Its environment.
    as_json
        Without, its text as a person reads it.

    Raises
    ------
    TcplabError
        The command failed; the class says how.
    KeyboardInterrupt
        After Ctrl-C, when the command has ended in good order.
    """
    form = ["--json"] if as_json else []
    line = [command_path(), *(os.fspath(arg) for arg in args), *form, "--progress=json", f"--parent={os.getpid()}"]
    child = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=env,
        # So that Ctrl-C in a terminal comes once: from here.
        start_new_session=True,
    )
    messages: list[str] = []
    assert child.stderr is not None
    said = TextLines(child.stderr, messages, progress)
    said.start()
    try:
        text = talk(child, stdin)
    except BaseException:
        end(child)
        raise
    finally:
        said.join()
        child.stderr.close()
        if progress is not None:
            progress.close()
    answer = Answer(child.returncode, text, messages)
    check(answer, expected)
    for message in messages:
        if message.startswith("tcplab: warning: "):
            warnings.warn(message.removeprefix("tcplab: warning: "), errors.TcplabWarning, stacklevel=3)
    return answer


def talk(child: subprocess.Popen[bytes], stdin: bytes | None) -> bytes:
    """Gives the command its input and takes its output to the end."""
    if stdin is not None and child.stdin is not None:
        # It says why when it does not want all of it.
        with suppress(BrokenPipeError):
            child.stdin.write(stdin)
        with suppress(BrokenPipeError):
            child.stdin.close()
    assert child.stdout is not None
    with child.stdout:
        text = child.stdout.read()
    child.wait()
    return text


def end(child: subprocess.Popen[bytes]) -> None:
    """Ends the command in good order: what is finished stays in its result folder."""
    with suppress(ProcessLookupError):
        child.send_signal(signal.SIGINT)
    if child.stdout is not None:
        child.stdout.close()
    try:
        child.wait(timeout=30)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def check(answer: Answer, expected: Sequence[int]) -> None:
    """Raises what the command failed with."""
    if answer.code in expected and answer.text:
        return
    message = "\n".join(answer.messages) or f"the command ended with exit code {answer.code} and said nothing"
    try:
        said: dict[str, Any] | None = answer.document
    except ValueError:
        said = None
    if said is not None and isinstance(record := said.get("error"), dict):
        raise errors.of_record(cast("dict[str, Any]", record), said)
    kind = {2: errors.UsageError, 3: errors.Inconclusive, 4: errors.CannotRun, 130: errors.Interrupted}
    raise kind.get(answer.code, errors.TcplabError)(message.removeprefix("tcplab: "), said)


class TextLines(threading.Thread):
    """Reads standard error: progress for whoever wants it, messages for the list."""

    def __init__(self, stderr: Any, messages: list[str], progress: Progress | None) -> None:
        super().__init__(name="tcplab-messages", daemon=True)
        self.stderr: TextIO = io.TextIOWrapper(stderr, encoding="utf-8", errors="replace")
        self.messages = messages
        self.progress = progress

    def run(self) -> None:
        for line in self.stderr:
            line = line.rstrip("\n")
            if not line.startswith('{"progress":'):
                self.messages.append(line)
                continue
            if self.progress is not None:
                try:
                    told = json.loads(line)["progress"]
                except (ValueError, KeyError):
                    continue
                self.progress.at(told["done"], told["total"], told["what"])
