"""What a world shows between two steps: connections, their ends, links."""

from __future__ import annotations

from typing import NamedTuple

from tcplab import _native
from tcplab.congestion import CongestionControl

__all__ = ["Connection", "End", "LinkState", "Made"]

#: The algorithms of connections by the numbers and ports of their ends.
Made = dict[tuple[int, int, int, int], CongestionControl]


class LinkState(NamedTuple):
    """The state of one direction of a link at one moment.

    Attributes
    ----------
    queue_pkts : int
        Packets in the queue, including the one on the wire.
    queue_bytes : int
        Bytes in the queue; a packet's bytes count until its last bit has left.
    delivered_bytes : int
        Bytes delivered since the run's start.
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
        """Returns getsockopt(TCP_INFO) now.

        Returns
        -------
        dict or None
            Fields of Linux's ``struct tcp_info``, with the kernel's names and units. Windows and counts are in packets,
            rates in bytes a second. Fields with ``_rtt``, ``_rttvar``, ``_rto`` or ``_ato`` in their name are in
            microseconds, fields with ``last_`` in milliseconds. None: no socket is open.
        """
        return self._native.info(*self._at)

    @property
    def congestion(self) -> str | None:
        """Name of this end's congestion control (TCP_CONGESTION); None: no socket is open."""
        return self._native.congestion(*self._at)

    @property
    def algorithm(self) -> CongestionControl | None:
        """This end's congestion control in Python; None: this end uses a built-in algorithm, or no socket is open."""
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
        """When this end connected or accepted the connection, in ns after the run's start; None: not yet."""
        return self._native.ended(*self._at)[0]

    @property
    def closed_ns(self) -> int | None:
        """When this end's application was done with the connection, in ns after the run's start; None: not yet."""
        return self._native.ended(*self._at)[1]

    @property
    def error(self) -> str | None:
        """Name of the error that ended the connection (``ETIMEDOUT``); None: no error."""
        return self._native.ended(*self._at)[2]

    def __repr__(self) -> str:
        return f"<End at {self.host}>"


class Connection:
    """A connection of an application. If the application connects repeatedly, one ``Connection`` stands for all of them.

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
        """Returns TCP_INFO of the client; see :meth:`End.info`."""
        return self.client.info()

    def __repr__(self) -> str:
        return f"<Connection of {self.app}, {self.client.host} to {self.server.host}>"
