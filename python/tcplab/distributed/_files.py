"""Files by their content: kernels, captures and the experiment reach each worker once, however many tasks need them.

The scheduler keeps a file as a plugin whose name is its hash, and hands it to every worker that is there or comes later:
a worker that replaces a lost one has it before its first task.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tcplab.distributed._dask import Client, Worker, WorkerPlugin

__all__ = ["Keep", "path_of", "place", "send"]


def place(worker: Worker) -> Path:
    """The worker's folder for tcplab's files; it goes with the worker."""
    return Path(worker.local_directory) / "tcplab"


class Keep(WorkerPlugin):
    """Writes a file into the worker's folder under its hash."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.digest = hashlib.sha256(content).hexdigest()
        self.name = f"tcplab-{self.digest}"

    def setup(self, worker: Worker) -> None:
        """Called by the worker when it starts, or when the file is new."""
        folder = place(worker)
        path = folder / self.digest
        if path.exists():
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f".{self.digest}.{os.getpid()}"
        part.write_bytes(self.content)
        # A kernel is a program.
        part.chmod(0o700)
        part.rename(path)


def path_of(worker: Worker, digest: str) -> Path:
    """Where a worker has the file."""
    return place(worker) / digest


def _has(digests: list[str], dask_worker: Any = None) -> list[str]:
    return [digest for digest in digests if path_of(dask_worker, digest).exists()]


def send(client: Client, contents: Iterable[bytes]) -> list[str]:
    """Sends files that a worker lacks.

    Returns
    -------
    list of str
        The hash of each.
    """
    plugins = [Keep(content) for content in contents]
    digests = [plugin.digest for plugin in plugins]
    there: dict[str, list[str]] = client.run(_has, digests)
    for plugin in plugins:
        if not all(plugin.digest in has for has in there.values()):
            client.register_plugin(plugin)
    return digests
