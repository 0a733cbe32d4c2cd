"""The part in Rust."""

from collections.abc import Callable
from typing import Any

__version__: str

class Table:
    """Rows and columns in Arrow's layout.

    polars, pandas, pyarrow and duckdb read it without a copy: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``. Whole numbers are int64, times included; the unit of a column is the end of its name
    and in :attr:`units`.
    """

    @staticmethod
    def of(name: str, columns: list[tuple[str, str, str, str]], rows: list[list[Any]]) -> Table:
        """A table of rows.

        Parameters
        ----------
        name
            Its name.
        columns
            Name, kind (``int``, ``float``, ``text``, ``flag``), unit and description of each column.
        rows
            A value for each column, or None.
        """

    @staticmethod
    def joined(tables: list[Table]) -> Table:
        """The rows of several tables with the same columns, one after the other."""

    @property
    def name(self) -> str:
        """Name of the table."""

    @property
    def columns(self) -> list[str]:
        """Names of its columns."""

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column; empty: a number as such, or a text."""

    @property
    def descriptions(self) -> dict[str, str]:
        """What each column says."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]:
        """The values of a column; ``None`` where one is missing."""

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns as lists."""

    def plot(
        self, x: str, y: str, color: str | None = None, *, points: bool = False, library: str | None = None
    ) -> Any:
        """A chart of two columns; see :func:`tcplab.plot.lines`."""

    def __arrow_c_schema__(self) -> object:
        """Its schema, as the Arrow PyCapsule interface has it."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Its rows, as the Arrow PyCapsule interface has them."""

def analyze(
    source: object,
    name: str,
    *,
    traced: bool,
    max_packets: int | None,
    max_streams: int | None,
    streams: list[int],
    progress: Callable[[int, int | None], object] | None,
) -> tuple[dict[str, Table], bytes]: ...
def report(
    source: object,
    name: str,
    *,
    max_streams: int | None,
    streams: list[int],
    progress: Callable[[int, int | None], object] | None,
) -> bytes: ...
def run_tables(document: bytes) -> dict[str, Table]: ...
def examples() -> list[tuple[str, str]]: ...

class View:
    """A connection as its congestion control sees it. Windows and counts are in packets, by Linux's names."""

    @property
    def now_ns(self) -> int:
        """The time of the run in nanoseconds."""

    @property
    def snd_cwnd(self) -> int:
        """The congestion window."""

    @property
    def snd_ssthresh(self) -> int:
        """The slow start threshold; 2^31 - 1: no loss was seen yet."""

    @property
    def snd_cwnd_clamp(self) -> int:
        """The window never exceeds this."""

    @property
    def prior_cwnd(self) -> int:
        """The window before the last reduction."""

    @property
    def is_cwnd_limited(self) -> bool:
        """The window was full, or half of it in slow start: it may grow (``tcp_is_cwnd_limited()``)."""

    @property
    def mss(self) -> int:
        """Payload of a full segment in bytes."""

    @property
    def srtt_us(self) -> int | None:
        """The smoothed RTT in microseconds; None: no sample yet."""

    @property
    def min_rtt_us(self) -> int | None:
        """The smallest RTT of late in microseconds (``tcp_min_rtt()``); None: no sample yet."""

    @property
    def packets_out(self) -> int:
        """Sent and not ACKed."""

    @property
    def sacked_out(self) -> int:
        """Of these SACKed."""

    @property
    def lost_out(self) -> int:
        """Of these marked lost."""

    @property
    def retrans_out(self) -> int:
        """Retransmissions in flight."""

    @property
    def in_flight(self) -> int:
        """``tcp_packets_in_flight()``."""

    @property
    def delivered(self) -> int:
        """Ever delivered, modulo 2^32."""

    @property
    def delivered_ce(self) -> int:
        """Of these with a mark, modulo 2^32."""

    @property
    def lost(self) -> int:
        """Ever marked lost, modulo 2^32."""

    @property
    def ca_state(self) -> str:
        """The state of recovery: ``Open``, ``Disorder``, ``CWR``, ``Recovery``, ``Loss``."""

    @property
    def is_app_limited(self) -> bool:
        """The application sends less than the window allows."""

    @property
    def has_ecn(self) -> bool:
        """Both ends speak ECN (RFC 3168)."""

    @property
    def pacing_rate_bytes(self) -> int | None:
        """The pacing rate in bytes a second; None: there is none yet."""

class Ack(View):
    """The connection at an ACK, and the ACK's rate sample (``struct rate_sample``)."""

    @property
    def acked(self) -> int:
        """Packets that it delivered, SACKed ones too."""

    @property
    def losses(self) -> int:
        """Packets that were marked lost at it."""

    @property
    def rtt_us(self) -> int | None:
        """Its RTT in microseconds; None: no sample."""

    @property
    def rate_delivered(self) -> int | None:
        """Packets delivered over :attr:`rate_interval_us`; None: no sample."""

    @property
    def rate_delivered_ce(self) -> int:
        """Of these with a mark."""

    @property
    def rate_interval_us(self) -> int | None:
        """The longer of the times in which they were sent and ACKed, in microseconds; None: no sample."""

    @property
    def prior_delivered(self) -> int:
        """:attr:`View.delivered` when the last of them left."""

    @property
    def prior_in_flight(self) -> int:
        """Packets in flight before it."""

    @property
    def is_rate_app_limited(self) -> bool:
        """The sample is of a time in which the application sent less than the window allowed."""

    @property
    def is_retrans(self) -> bool:
        """The sample is of a retransmission."""

class Change:
    """What a congestion control changes; None: it stays.

    Parameters
    ----------
    snd_cwnd
        The window in packets, 1 to 2^30.
    snd_ssthresh
        The slow start threshold in packets.
    pacing_rate_bytes
        The pacing rate in bytes a second; only with ``controls_cwnd``.
    """

    def __init__(
        self,
        snd_cwnd: int | None = None,
        *,
        snd_ssthresh: int | None = None,
        pacing_rate_bytes: int | None = None,
    ) -> None: ...
    @property
    def snd_cwnd(self) -> int | None:
        """The window in packets."""

    @property
    def snd_ssthresh(self) -> int | None:
        """The slow start threshold in packets."""

    @property
    def pacing_rate_bytes(self) -> int | None:
        """The pacing rate in bytes a second."""

class World:
    """The part of :class:`tcplab.World` in Rust."""

    def __new__(cls, file: str, text: str, stack: str, *, set: list[str], variant: str | None) -> World: ...
    @property
    def hosts(self) -> list[str]: ...
    @property
    def links(self) -> list[tuple[str, str]]: ...
    @property
    def flows(self) -> list[tuple[str, str, str]]: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def next_ns(self) -> int | None: ...
    @property
    def is_over(self) -> bool: ...
    def set_congestion(
        self,
        host: int,
        make: Callable[[int, int, int, int], tuple[Any, ...]],
        *,
        name: str,
        needs_ecn: bool,
        controls_cwnd: bool,
    ) -> None: ...
    @staticmethod
    def nanoseconds(text: str) -> int: ...
    def run_until(self, until_ns: int) -> bool: ...
    def info(self, flow: int, is_client: bool) -> dict[str, int] | None: ...
    def congestion(self, flow: int, is_client: bool) -> str | None: ...
    def read_written(self, flow: int, is_client: bool) -> tuple[int, int]: ...
    def ends(self, flow: int, is_client: bool) -> tuple[int, int, int, int] | None: ...
    def ended(self, flow: int, is_client: bool) -> tuple[int | None, int | None, str | None]: ...
    def counters(self, host: int) -> dict[str, int]: ...
    def queue(self, link: int, way: int) -> tuple[int, int, int]: ...
    def captures(self) -> list[tuple[str, str, bytes]]: ...
    def outcome(self) -> bytes: ...
