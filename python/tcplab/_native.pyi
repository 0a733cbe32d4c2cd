"""The part in Rust."""

from collections.abc import Callable
from typing import Any

__version__: str

class Table:
    """Rows and columns in Arrow's layout.

    polars, pandas, pyarrow and duckdb read it without a copy: ``polars.DataFrame(table)``,
    ``pyarrow.table(table)``. Whole numbers are int64, times included (seeds and axes beyond 2^63 - 1: uint64); the unit
    of a column is the end of its name and in :attr:`units`. A list inside a table is a text: its JSON. Tables can be
    pickled and copied.
    """

    @staticmethod
    def of(name: str, columns: list[tuple[str, str, str, str]], rows: list[list[Any]]) -> Table:
        """A table of rows.

        Parameters
        ----------
        name
            Its name.
        columns
            Name, kind (``int``, ``unsigned``, ``float``, ``text``, ``flag``), unit and description of each column.
        rows
            A value for each column, or None.
        """

    @staticmethod
    def joined(tables: list[Table]) -> Table:
        """Returns a table with the rows of several tables that have the same columns."""

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
        """Meaning of each column."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: str, /) -> list[Any]:
        """The values of a column; ``None`` where one is missing."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Returns all columns as lists."""

    def plot(
        self, x: str, y: str, color: str | None = None, *, points: bool = False, library: str | None = None
    ) -> Any:
        """A chart of two columns; see :func:`tcplab.plot.lines`."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    def __arrow_c_schema__(self) -> object:
        """Its schema, as the Arrow PyCapsule interface has it."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Its rows, as the Arrow PyCapsule interface has them."""

def analyze(
    source: object,
    name: str,
    *,
    traced: str | None,
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
def run_verdicts(document: bytes, base: str | None) -> Table: ...
def unverified(name: str) -> str | None: ...
def examples() -> list[tuple[str, str]]: ...

class View:
    """A connection as seen by its congestion control. Windows and counts are in packets; names are Linux's."""

    @property
    def now_ns(self) -> int: ...
    @property
    def snd_cwnd(self) -> int: ...
    @property
    def snd_ssthresh(self) -> int: ...
    @property
    def snd_cwnd_clamp(self) -> int: ...
    @property
    def prior_cwnd(self) -> int: ...
    @property
    def is_cwnd_limited(self) -> bool: ...
    @property
    def mss(self) -> int: ...
    @property
    def srtt_us(self) -> int | None: ...
    @property
    def min_rtt_us(self) -> int | None: ...
    @property
    def packets_out(self) -> int: ...
    @property
    def sacked_out(self) -> int: ...
    @property
    def lost_out(self) -> int: ...
    @property
    def retrans_out(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    @property
    def delivered(self) -> int: ...
    @property
    def delivered_ce(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def ca_state(self) -> str: ...
    @property
    def is_app_limited(self) -> bool: ...
    @property
    def has_ecn(self) -> bool: ...
    @property
    def pacing_rate_bytes(self) -> int | None: ...

class Ack(View):
    """The connection at an ACK, and the ACK's rate sample (``struct rate_sample``)."""

    @property
    def acked(self) -> int: ...
    @property
    def losses(self) -> int: ...
    @property
    def rtt_us(self) -> int | None: ...
    @property
    def rate_delivered(self) -> int | None: ...
    @property
    def rate_delivered_ce(self) -> int: ...
    @property
    def rate_interval_us(self) -> int | None: ...
    @property
    def prior_delivered(self) -> int: ...
    @property
    def prior_in_flight(self) -> int: ...
    @property
    def is_rate_app_limited(self) -> bool: ...
    @property
    def is_retrans(self) -> bool: ...

class Change:
    """Changes that a congestion control makes. A value that is None stays as it is."""

    def __init__(
        self,
        snd_cwnd: int | None = None,
        *,
        snd_ssthresh: int | None = None,
        pacing_rate_bytes: int | None = None,
    ) -> None: ...
    @property
    def snd_cwnd(self) -> int | None: ...
    @property
    def snd_ssthresh(self) -> int | None: ...
    @property
    def pacing_rate_bytes(self) -> int | None: ...

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
    def warnings(self) -> list[str]: ...
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
