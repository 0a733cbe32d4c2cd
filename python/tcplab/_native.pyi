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
