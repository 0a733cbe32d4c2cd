"""What is used of ``distributed``, with types: its own are partial."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Client", "Future", "Worker", "as_completed", "client_at", "current_client", "lost", "this_worker"]

try:
    _module: Any = importlib.import_module("distributed")
except ImportError as e:
    raise ImportError("tcplab.distributed needs Dask: pip install 'tcplab[distributed]'") from e


class Future(Protocol):
    """A task, as a client has it."""

    key: str

    def result(self) -> Any:
        """What it came to, or its error."""

    def release(self) -> None:
        """Its result is not needed any more."""

    def cancel(self) -> None:
        """It is not needed."""


class Worker(Protocol):
    """A worker, in its own process."""

    @property
    def local_directory(self) -> str:
        """Its folder."""
        ...

    @property
    def address(self) -> str:
        """Where it listens."""
        ...


class Client(Protocol):
    """The client of a scheduler."""

    @property
    def loop(self) -> Any:
        """Its event loop."""
        ...

    @property
    def scheduler(self) -> Any:
        """Where its scheduler is."""
        ...

    def submit(self, func: Callable[..., Any], *args: Any, key: str, pure: bool, priority: int = 0) -> Future:
        """Gives the scheduler a task."""
        ...

    def run(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Calls a function on each worker."""
        ...

    def nthreads(self) -> dict[str, int]:
        """Threads of each worker."""
        ...

    def register_plugin(self, plugin: Any) -> Any:
        """Gives each worker, now or later, a plugin."""

    def wait_for_workers(self, n_workers: int, timeout: float) -> Any:
        """Waits until there are so many."""

    def close(self) -> Any:
        """Ends the connection."""


#: Base class of plugins.
WorkerPlugin: Any = _module.WorkerPlugin
#: What a lost task raises.
lost: tuple[type[Exception], ...] = (_module.KilledWorker, _module.client.FutureCancelledError)


def client_at(address: str) -> Client:
    """A client of the scheduler there."""
    return _module.Client(address, set_as_default=False)


def current_client() -> Client:
    """The client that was made last."""
    return _module.Client.current()


def this_worker() -> Worker:
    """The worker whose task this is."""
    return _module.get_worker()


def as_completed(client: Client) -> Any:
    """Futures in the order in which they end; more are added while it is read."""
    # Its loop: with no future it would ask for a default client.
    return _module.as_completed(loop=client.loop)
