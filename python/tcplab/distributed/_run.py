"""A run on a cluster: what is left of its folder, where it goes, and the end on this machine."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tcplab import _command, _progress, errors
from tcplab._arguments import whole
from tcplab.distributed import _files, _flow, _points, _population, _work
from tcplab.distributed._dask import Client
from tcplab.running import PopulationResult, Run, Wanted, choice, source_of

__all__ = ["gather", "run"]


def run(
    experiment: Wanted,
    *,
    out: str | os.PathLike[str],
    client: Client | str | None = None,
    on: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    repeat: int | None = None,
    seed: int | None = None,
    connections: int | None = None,
    variants: Sequence[str] = (),
    rows: bool = False,
    shards: int | None = None,
    progress: _progress.Wanted = None,
) -> Run | PopulationResult:
    """Runs an experiment, or a population, on the workers of a Dask cluster.

    Parameters
    ----------
    experiment
        As in :func:`tcplab.run`. Captures to replay must have paths below the current folder.
    out
        Result folder on this machine. Except for ``cost.json``, its files have the same bytes as with :func:`tcplab.run`.
        If the client was killed, the same call resumes the run.
    client
        A Dask client, or the address of a Dask scheduler; None: the current Dask client.
    on
        ``model``, ``model:PROFILE`` or ``uml:NAME``. The kernels of ``uml:`` stacks are sent to the workers.
    set, repeat, seed, connections, variants
        As in :func:`tcplab.run`.
    rows
        Only for a population: write a row for each connection and arm to ``rows.parquet``.
    shards
        Only for a population: number of tasks. None: at most 2,048 tasks, each of about 20 CPU seconds.
    progress
        As in :func:`tcplab.run`.

    Returns
    -------
    Run or PopulationResult

    Raises
    ------
    CannotRun
        There is no worker, or a worker has another version of tcplab.
    """
    options = [*choice(on, set, repeat, seed, connections, variants), *_command.words(rows=rows)]
    shards = whole("shards", shards, 1)
    path, stdin = source_of(experiment)
    gather(path, options, out=out, client=client, stdin=stdin, shards=shards, progress=progress)
    args: list[str | os.PathLike[str]] = ["run", path, *options]
    answer = _command.document([*args, *_command.words(out=out)], stdin=stdin, progress=_progress.of(progress))
    shown = [arg for arg in args if arg != "--rows"]
    is_run = answer.document["schema"].startswith("tcplab.run/")
    result = Run(answer, (shown, stdin)) if is_run else PopulationResult(answer, (shown, stdin))
    result._warn()  # pyright: ignore[reportPrivateUsage]
    return result


def gather(
    path: str | os.PathLike[str],
    options: Sequence[str],
    *,
    out: str | os.PathLike[str],
    client: Client | str | None = None,
    stdin: bytes | None = None,
    shards: int | None = None,
    progress: _progress.Wanted = None,
) -> None:
    """Runs the unfinished part of a result folder on the workers. Afterwards ``tcplab run`` has nothing left to run.

    Parameters
    ----------
    path, options, stdin
        File, options and standard input of ``tcplab run``. If ``path`` is ``-``, ``stdin`` is the text of the file.
    out, client, shards, progress
        As in :func:`run`.
    """
    # Absolute: the command would ask in vain for what begins with a dash.
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        left = _left(path, options, folder, stdin)
        if not _is_left(left):
            return
        connected = _flow.connect(client)
        told = _progress.of(progress) or _Silent()
        try:
            source = _source(connected, path, options, folder, left, stdin)
            if left["kind"] == "points":
                _points.gather(connected, source, left, folder, told)
            else:
                _population.gather(connected, source, left, folder, told, shards)
        finally:
            told.close()
            if isinstance(client, str):
                connected.close()
        # A point that failed is not kept: the run at the end says why. A group cannot fail.
        if left["kind"] == "population" and _is_left(_left(path, options, folder, stdin)):
            raise errors.TcplabError(f"{folder}: some groups came back damaged; the same call runs them again")


class _Silent:
    """Shows nothing."""

    def at(self, done: int, total: int | None, what: str) -> None:
        """Says nothing."""

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Holds a result folder: two clients would write the same groups into it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as e:
        os.close(handle)
        raise errors.UsageError(f"{folder}: another client writes into this folder") from e
    try:
        yield
    finally:
        os.close(handle)


def _left(path: str | os.PathLike[str], options: Sequence[str], out: Path, stdin: bytes | None) -> dict[str, Any]:
    return _command.document(["run", path, *options, f"--out={out}", "--pending"], stdin=stdin).document


def _is_left(left: Mapping[str, Any]) -> bool:
    if left["kind"] == "points":
        return bool(left["points"])
    return any(variant["groups"] for variant in left["variants"])


def _source(
    client: Client,
    path: str | os.PathLike[str],
    options: Sequence[str],
    out: Path,
    left: Mapping[str, Any],
    stdin: bytes | None,
) -> _work.Source:
    """What the workers need, sent to them."""
    text = Path(path).read_bytes() if stdin is None else stdin
    captures: list[str] = left.get("files", [])
    for name in captures:
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise errors.UsageError(f"{name}: workers know captures by a path below the current folder: start where the file is")
    binaries = [Path(kernel["path"]) for kernel in left.get("kernels", [])]
    contents = [text, *(Path(name).read_bytes() for name in captures)]
    for binary in binaries:
        contents += [binary.read_bytes(), binary.with_name("manifest.json").read_bytes()]
    digests = _files.send(client, contents)
    of_kernels = digests[1 + len(captures) :]
    folder = next(iter(left["variants"]))["name"] if left["kind"] == "population" else None
    manifest = json.loads((out / (folder or "") / "manifest.json").read_bytes())
    return _work.Source(
        name="-" if stdin is not None else Path(path).name,
        text=digests[0],
        # The variant of a task is its own.
        options=tuple(_without(options, "--variant")),
        program=manifest["program_sha256"],
        files=tuple(zip(captures, digests[1:])),
        kernels=tuple(zip(of_kernels[::2], of_kernels[1::2])),
    )


def _without(options: Sequence[str], name: str) -> list[str]:
    """Options but for one that takes a value, in either form."""
    kept: list[str] = []
    skips = False
    for option in options:
        if skips or option == name:
            skips = not skips
        elif not option.startswith(f"{name}="):
            kept.append(option)
    return kept
