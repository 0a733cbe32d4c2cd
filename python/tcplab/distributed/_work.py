"""What a worker does: it runs the command in a folder of its own, and what the command leaves there is the result.

Nothing here needs the client's files: what a task needs comes by its hash (``_files``).
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tcplab import _command, errors
from tcplab.distributed import _files
from tcplab.distributed._dask import Worker, this_worker

__all__ = ["Batch", "Part", "Source", "groups", "merge", "points", "scripts"]


@dataclass(frozen=True)
class Source:
    """What is run: the same for all tasks of a run."""

    #: The experiment's file name, ``-`` for a text.
    name: str
    #: Hash of its text.
    text: str
    #: Options that decide what is run.
    options: tuple[str, ...]
    #: SHA-256 of the client's command: a worker of another version is an error.
    program: str
    #: Captures: their path as the experiment has it, and their hash.
    files: tuple[tuple[str, str], ...] = ()
    #: Kernels: the hash of the executable and of its manifest.
    kernels: tuple[tuple[str, str], ...] = ()


@dataclass
class Part:
    """Files of a part of a population's result folder."""

    files: dict[str, bytes]
    #: CPU seconds of the commands that made it.
    cpu_s: float = 0.0

    def __sizeof__(self) -> int:
        return sum(map(len, self.files.values()))


@dataclass
class Batch:
    """Points that are finished: the files of each by its number."""

    points: dict[int, dict[str, bytes]] = field(default_factory=dict[int, dict[str, bytes]])
    cpu_s: float = 0.0

    def __sizeof__(self) -> int:
        return sum(len(data) for files in self.points.values() for data in files.values())


def groups(source: Source, variant: str | None, shard: str) -> Part:
    """Runs a shard of a population."""
    with folder(source) as (here, command):
        options = [*source.options, f"--shard={shard}", "--no-table", "--out=out", "--jobs=1"]
        cpu_s = command(["run", source.name, *options, *([] if variant is None else [f"--variant={variant}"])])
        return part(source, here / "out" / (variant or ""), cpu_s)


def merge(source: Source, *parts: Part) -> Part:
    """Merges neighbouring parts into one."""
    with folder(source) as (here, command):
        names = [f"part-{number}" for number in range(len(parts))]
        for name, one in zip(names, parts):
            write(here / name, one.files)
        cpu_s = command(["merge", "--partial", *names, "--out=out"])
        return part(source, here / "out", cpu_s + sum(one.cpu_s for one in parts))


def points(source: Source, numbers: str) -> Batch:
    """Runs points, and gives those that came to an end; one that failed is not among them."""
    with folder(source) as (here, command):
        options = [*source.options, f"--points={numbers}", "--out=out", "--jobs=1"]
        # A point that failed or had no answer: the client runs it again, and says why.
        cpu_s = command(["run", source.name, *options], expected=(0, 1, 3, 4))
        out = here / "out"
        check(source, out)
        done = sorted(one for one in (out / "points").iterdir() if one.name.isdigit())
        return Batch({int(one.name): read(one) for one in done}, cpu_s)


def scripts(source: Source, folders: Sequence[dict[str, bytes]]) -> tuple[dict[str, Any], float]:
    """Runs the first file of each folder; their document, in which a script is called by its place."""
    with folder(source) as (here, command):
        paths = [Path(str(place)) / next(iter(files)) for place, files in enumerate(folders)]
        for path, files in zip(paths, folders):
            write(here / path.parent, files)
        said: list[_command.Answer] = []
        cpu_s = command(["drill", *map(str, paths), *source.options, "--jobs=1"], expected=(0, 1, 4), said=said)
        return said[0].document, cpu_s


@contextmanager
def folder(source: Source) -> Generator[tuple[Path, Any]]:
    """A folder for a task, with the experiment and its captures, and the command in it."""
    worker = this_worker()
    root = _files.place(worker)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="task-", dir=root) as name:
        here = Path(name)
        text = _files.path_of(worker, source.text).read_bytes() if source.text else b""
        if source.name != "-":
            write(here, {source.name: text})
        for path, digest in source.files:
            target = here / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(_files.path_of(worker, digest), target)
        env = {**os.environ, "XDG_CACHE_HOME": str(kernels(worker, source) or here)}

        def command(args: list[str], *, expected: Sequence[int] = (0,), said: list[_command.Answer] | None = None) -> float:
            before = cpu()
            stdin = text if source.name == "-" and args[0] == "run" else None
            answer = _command.document(args, stdin=stdin, expected=expected, cwd=here, env=env)
            if said is not None:
                said.append(answer)
            return cpu() - before

        yield here, command


def cpu() -> float:
    """CPU seconds of the commands so far; of a worker with several threads, of all its tasks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kernels(worker: Worker, source: Source) -> Path | None:
    """A cache folder in which the command finds the kernels."""
    if not source.kernels:
        return None
    named = hashlib.sha256(repr(source.kernels).encode()).hexdigest()
    cache = _files.place(worker) / f"kernels-{named[:16]}"
    for binary, manifest in source.kernels:
        text = _files.path_of(worker, manifest).read_bytes()
        home = cache / "tcplab" / "kernels" / "bin" / json.loads(text)["key"]
        home.mkdir(parents=True, exist_ok=True)
        for name, digest in (("linux", binary), ("manifest.json", manifest)):
            try:
                os.link(_files.path_of(worker, digest), home / name)
            except FileExistsError:
                continue
    return cache


def part(source: Source, out: Path, cpu_s: float) -> Part:
    """What a part of a population is: its table is not needed."""
    check(source, out)
    return Part({name: data for name, data in read(out).items() if name != "summary.json"}, cpu_s)


def check(source: Source, out: Path) -> None:
    """Refuses the result of another version."""
    program = json.loads((out / "manifest.json").read_bytes())["program_sha256"]
    if program != source.program:
        raise errors.CannotRun(
            f"worker {this_worker().address}: its command tcplab ({program[:12]}) is not the client's ({source.program[:12]}): "
            "install the same wheel on all workers"
        )


def read(out: Path) -> dict[str, bytes]:
    """The files of a folder."""
    return {one.name: one.read_bytes() for one in sorted(out.iterdir()) if one.is_file()}


def write(out: Path, files: dict[str, bytes]) -> None:
    """Writes files into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)
