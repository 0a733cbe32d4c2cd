"""Campaigns: points in batches, and the result folder that takes them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tcplab.distributed import _flow, _work
from tcplab.distributed._dask import Client, Future
from tcplab.distributed._flow import Job

__all__ = ["Batches", "gather", "words"]

#: CPU seconds of a task.
SECONDS = 10.0
#: Points of a task at most: their captures are in memory at once.
MOST = 256


class Batches:
    """How many pieces a task has: one until the first are done, then as many as take SECONDS."""

    def __init__(self) -> None:
        self._pieces = 0
        self._cpu_s = 0.0

    def learn(self, pieces: int, cpu_s: float) -> None:
        """Of a task that is done."""
        self._pieces += pieces
        self._cpu_s += cpu_s

    @property
    def size(self) -> int:
        """Pieces of the next task."""
        if self._pieces == 0:
            return 1
        return max(1, min(MOST, int(SECONDS / max(1e-6, self._cpu_s / self._pieces))))

    def cut(self, pieces: Sequence[int]) -> Iterator[Sequence[int]]:
        """Takes one batch after another; each is as large as is known when it is asked for."""
        at = 0
        while at < len(pieces):
            size = self.size
            yield pieces[at : at + size]
            at += size


def words(numbers: Sequence[int]) -> str:
    """Sorted numbers as the command has them: ``0,4,7-12``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def gather(client: Client, source: _work.Source, left: dict[str, Any], out: Path, told: Any) -> None:
    """Runs what is left, and puts each point into its place by one rename."""
    batches = Batches()

    def jobs() -> Iterator[Job[int]]:
        for numbers in batches.cut(left["points"]):
            which = words(numbers)

            def submit(token: str, which: str = which) -> Future:
                name = _flow.key(left["experiment"], "points", which, token)
                return client.submit(_work.points, source, which, key=name, pure=False)

            yield Job(len(numbers), 1, submit)

    done = left["count"] - len(left["points"])
    for pieces, batch in _flow.flow(client, jobs()):
        batches.learn(pieces, batch.cpu_s)
        for number, files in batch.points.items():
            keep(out / "points", number, files)
        done += pieces
        told.at(done, left["count"], "points")


def keep(folder: Path, number: int, files: dict[str, bytes]) -> None:
    """Puts a point into its place."""
    part = folder / f".{number:04}.part"
    shutil.rmtree(part, ignore_errors=True)
    _work.write(part, files)
    part.rename(folder / f"{number:04}")
