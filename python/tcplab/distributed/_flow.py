"""Tasks in flight: as many as keep the workers busy, not as many as there are. The client holds one result at a time."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tcplab import errors
from tcplab.distributed._dask import Client, Future, as_completed, client_at, current_client, lost

__all__ = ["Job", "connect", "flow", "key"]

Tag = TypeVar("Tag")

#: Seconds that a client waits for a first worker.
PATIENCE = 60
#: Seconds between two counts of the workers' threads.
RECOUNT = 5.0
#: How often a task may lose its worker, beyond what the scheduler allows (``allowed-failures``, 3).
TRIES = 5


@dataclass
class Job(Generic[Tag]):
    """A task, or a tree of tasks whose root the client waits for."""

    #: What it is, for the caller.
    tag: Tag
    #: Tasks in it that take time.
    weight: int
    #: Gives it to the scheduler; the argument makes keys unique.
    submit: Callable[[str], Future]
    tries: int = 0


def key(experiment: str, what: str, which: str, token: str) -> str:
    """The name of a task: what the dashboard shows, and groups by what stands before the first dash."""
    return f"tcplab {experiment.replace('-', '_')}/{what}-{which}-{token}"


def connect(client: Client | str | None) -> Client:
    """The client of a cluster that has workers."""
    if isinstance(client, str):
        try:
            client = client_at(client)
        except (OSError, ValueError) as e:
            raise errors.CannotRun(f"{client}: no Dask scheduler answers: {e}") from e
    if client is None:
        try:
            client = current_client()
        except ValueError as e:
            raise errors.UsageError("no Dask client: make one (distributed.Client(...)), or write client=ADDRESS") from e
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as e:
        where = client.scheduler.address if client.scheduler else "the scheduler"
        raise errors.CannotRun(f"no worker came to {where} within {PATIENCE} s: start some with `dask worker {where}`") from e
    return client


class _Room:
    """How many tasks may be in flight: two for each thread of the workers, and what the next job has."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._counted = 0.0
        self._threads = 1

    def has(self, load: int) -> bool:
        if time.monotonic() - self._counted > RECOUNT:
            self._threads = max(1, sum(self._client.nthreads().values()))
            self._counted = time.monotonic()
        return load < 2 * self._threads


def flow(client: Client, jobs: Iterator[Job[Tag]]) -> Iterator[tuple[Tag, Any]]:
    """Runs jobs and gives what each came to, in the order in which they end.

    A job is asked for when there is room for it. One whose worker was lost is run again; the workers' results are
    released when they are here.
    """
    room = _Room(client)
    running: dict[str, tuple[Job[Tag], Future]] = {}
    ended = as_completed(client)
    load = 0

    def start(job: Job[Tag]) -> None:
        nonlocal load
        future = job.submit(uuid.uuid4().hex[:8])
        running[future.key] = (job, future)
        load += job.weight
        ended.add(future)

    try:
        while True:
            while room.has(load) and (job := next(jobs, None)) is not None:
                start(job)
            if not running:
                return
            job, future = running.pop(next(ended).key)
            load -= job.weight
            result = _result(job, future)
            future.release()
            del future
            if result is None:
                start(job)
            else:
                yield job.tag, result
                del result
    finally:
        for _, future in running.values():
            future.cancel()


def _result(job: Job[Any], future: Future) -> Any:
    """What a job came to; None: it has to run again."""
    try:
        return future.result()
    except lost as e:
        job.tries += 1
        if job.tries > TRIES:
            raise errors.CannotRun(
                f"{future.key}: its workers were lost each time it ran; do they have the memory for it? What is finished is "
                "kept, and the same call resumes the run"
            ) from e
        return None
