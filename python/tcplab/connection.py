"""What a world shows between two steps: connections, their ends, links."""

from __future__ import annotations

from typing import NamedTuple

from tcplab import _native
from tcplab.congestion import CongestionControl

__all__ = ["Connection", "End", "LinkState", "Made"]

#: The algorithms of connections by the numbers and ports of their ends.
Made = dict[tuple[int, int, int, int], CongestionControl]


class LinkState(NamedTuple):
    """One way of a link at a moment.

    Attributes
    ----------
    queue_pkts : int
        Packets in its queue, the one that the wire sends included.
    queue_bytes : int
        Bytes of them, a packet's until its last bit has left.
    delivered_bytes : int
        Bytes that came out of it since the run's start.
    """

    queue_pkts: int
    queue_bytes: int
    delivered_bytes: int


class End:
    """One end of a connection: the socket of a client or a server.

    Attributes
    ----------
    host : str
        Its host.
    """

    def __init__(self, native: _native.World, made: Made, at: tuple[int, bool], host: str) -> None:
        self._native = native
        self._made = made
        self._at = at
        self.host = host

    def info(self) -> dict[str, int] | None:
        """What getsockopt(TCP_INFO) says now.

        Returns
        -------
        dict or None
            Linux's ``struct tcp_info`` by the kernel's names and in its units: windows and counts in packets, ``_rtt``,
            ``_rttvar``, ``_rto`` and ``_ato`` in microseconds, ``last_`` in milliseconds, rates in bytes a second.
            None: there is no socket yet, or not any more.
        """
        return self._native.info(*self._at)

    @property
    def congestion(self) -> str | None:
        """Name of its congestion control (TCP_CONGESTION); None: it has no socket now."""
        return self._native.congestion(*self._at)

    @property
    def algorithm(self) -> CongestionControl | None:
        """Its congestion control in Python; None: it runs a built-in one, or has no socket now."""
        ends = self._native.ends(*self._at)
        return None if ends is None else self._made.get(ends)

    @property
    def bytes_read(self) -> int:
        """Bytes that its application has read."""
        return self._native.read_written(*self._at)[0]

    @property
    def bytes_written(self) -> int:
        """Bytes that its application has written."""
        return self._native.read_written(*self._at)[1]

    @property
    def opened_ns(self) -> int | None:
        """When it was connected or accepted, in ns after the run's start; None: not yet."""
        return self._native.ended(*self._at)[0]

    @property
    def closed_ns(self) -> int | None:
        """When its application was done with it, in ns after the run's start; None: not yet."""
        return self._native.ended(*self._at)[1]

    @property
    def error(self) -> str | None:
        """The error that ended it, by its name (``ETIMEDOUT``); None: there was none."""
        return self._native.ended(*self._at)[2]

    def __repr__(self) -> str:
        return f"<End at {self.host}>"


class Connection:
    """A connection of an application. If an application connects again and again, all its connections are one `Connection`.

    Attributes
    ----------
    app : str
        Its application.
    client, server : End
        Its ends.
    """

    def __init__(self, app: str, client: End, server: End) -> None:
        self.app = app
        self.client = client
        self.server = server

    def info(self) -> dict[str, int] | None:
        """What getsockopt(TCP_INFO) says at the client; see :meth:`End.info`."""
        return self.client.info()

    def __repr__(self) -> str:
        return f"<Connection of {self.app}, {self.client.host} to {self.server.host}>"
