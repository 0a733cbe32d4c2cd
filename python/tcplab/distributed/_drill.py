"""Scripts on a cluster: batches of them, and one document."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tcplab import _command, _progress, errors
from tcplab._arguments import files
from tcplab._notes import warn_of_profile
from tcplab.distributed import _files, _flow, _points, _work
from tcplab.distributed._dask import Client, Future
from tcplab.distributed._flow import Job
from tcplab.tools import Drill

__all__ = ["drill"]


def drill(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    client: Client | str | None = None,
    on: str = "model",
    define: Mapping[str, str] | None = None,
    tolerance_us: int | None = None,
    progress: _progress.Wanted = None,
) -> Drill:
    """Runs packetdrill scripts on the workers of a Dask cluster.

    Parameters
    ----------
    paths
        Scripts, or folders with ``*.pkt``, on this machine.
    client
        A Dask client, or the address of a Dask scheduler; None: the current Dask client.
    on
        ``model``, ``model:PROFILE`` or ``uml:NAME``. The kernel of a ``uml:`` stack is sent to the workers.
    define, tolerance_us, progress
        As in :func:`tcplab.drill`.

    Returns
    -------
    Drill
        The same as from :func:`tcplab.drill`, but captures of failed cases stay on the workers.
    """
    if on == "host" or on.startswith("ssh:"):
        raise errors.UsageError(f"{on}: only stacks in virtual time (model:, uml:) run on other machines")
    scripts = _scripts(files("paths", paths))
    options = _command.words(on=on, tolerance_us=tolerance_us)
    options += [f"--define={name}={value}" for name, value in (define or {}).items()]
    connected = _flow.connect(client)
    source = _work.Source("-", "", tuple(options), "", kernels=_kernels(connected, on))
    told = _progress.of(progress)
    parts: dict[int, dict[str, Any]] = {}
    done = 0
    for numbers, document in _spread(connected, source, scripts):
        for result in document["results"]:
            place = int(Path(result["script"]).parts[0])
            result["script"] = scripts[numbers[place]]
            result.pop("capture", None)
        parts[numbers[0]] = document
        done += len(numbers)
        if told is not None:
            told.at(done, len(scripts), "scripts")
    if told is not None:
        told.close()
    said = _together([parts[first] for first in sorted(parts)])
    warn_of_profile(said["stack"])
    text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    return Drill(_command.Answer(1 if said["failed"] else 0, text.encode(), []))


def _scripts(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The scripts of paths, in order."""
    listed = _command.document(["drill", "--dry-run", *paths], as_json=False).text.decode(errors="surrogateescape")
    # A case on a line: its script, and the mode in parentheses.
    return list(dict.fromkeys(line.rsplit(" (", 1)[0] for line in listed.splitlines()))


def _spread(client: Client, source: _work.Source, scripts: Sequence[str]) -> Iterator[tuple[Sequence[int], dict[str, Any]]]:
    """Runs batches of scripts; gives their numbers and their document."""
    batches = _points.Batches()

    def jobs() -> Iterator[Job[Sequence[int]]]:
        for numbers in batches.cut(range(len(scripts))):

            def submit(token: str, numbers: Sequence[int] = numbers) -> Future:
                folders = [_folder(Path(scripts[number])) for number in numbers]
                name = _flow.key("drill", "scripts", _points.words(numbers), token)
                return client.submit(_work.scripts, source, folders, key=name, pure=False)

            yield Job(numbers, 1, submit)

    for numbers, (document, cpu_s) in _flow.flow(client, jobs()):
        batches.learn(len(numbers), cpu_s)
        yield numbers, document


def _folder(script: Path) -> dict[str, bytes]:
    """What a worker needs of a script's folder: the script first, then its `defaults.sh`."""
    files = {script.name: script.read_bytes()}
    defaults = script.with_name("defaults.sh")
    if defaults.is_file():
        files[defaults.name] = defaults.read_bytes()
    return files


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One document of several."""
    said = dict(parts[0])
    for count in ("passed", "failed", "skipped"):
        said[count] = sum(part[count] for part in parts)
    said["results"] = [result for part in parts for result in part["results"]]
    return said


def _kernels(client: Client, on: str) -> tuple[tuple[str, str], ...]:
    """Sends the kernel of a stack."""
    if not on.startswith("uml:"):
        return ()
    for kernel in _command.document(["kernel", "list"]).document["kernels"]:
        if on in kernel["stacks"]:
            binary = Path(kernel["path"])
            digests = _files.send(client, [binary.read_bytes(), binary.with_name("manifest.json").read_bytes()])
            return ((digests[0], digests[1]),)
    raise errors.CannotRun(f"{on} is not built here: `tcplab kernel list` has the names")
