"""What a capture says about TCP."""

from __future__ import annotations

import functools
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Union

from tcplab import _native, _progress, errors
from tcplab._arguments import whole, wholes
from tcplab._native import Table
from tcplab._page import Page

__all__ = ["Analysis", "analyze"]


class BinaryFile(Protocol):
    """What is open in binary mode."""

    def read(self, n: int, /) -> bytes: ...


#: A capture: a path, its bytes, or an open file.
Capture = Union[str, "os.PathLike[str]", bytes, BinaryFile]


class Analysis(Page):
    """The analysis of captures, as tables. Each table is made when it is first used.

    Every table has the columns ``file`` and ``stream``. ``stream`` is Wireshark's ``tcp.stream``; it is empty for a finding about a
    whole capture. Times are nanoseconds since 1970 (``_ns``) or microseconds (``_us``).
    """

    def __init__(
        self,
        captures: Sequence[tuple[str, Capture]],
        *,
        streams: Sequence[int],
        max_packets: int | None,
        max_streams: int | None,
        progress: _progress.Wanted,
    ) -> None:
        self._captures = captures
        self._streams = list(streams)
        self._max_packets = whole("max_packets", max_packets, 1)
        self._max_streams = whole("max_streams", max_streams, 1)
        self._progress = progress
        self._plain, self._totals = self._read(None)

    def _read(self, traced: str | None) -> tuple[list[dict[str, Table]], list[dict[str, Any]]]:
        tables: list[dict[str, Table]] = []
        totals: list[dict[str, Any]] = []
        for name, source in self._captures:
            shown = _progress.of(self._progress)

            def tell(done: int, total: int | None, shown: _progress.Progress | None = shown) -> None:
                if shown is not None:
                    shown.at(done, total, "B")

            try:
                found, said = _native.analyze(
                    source,
                    name,
                    traced=traced,
                    max_packets=self._max_packets,
                    max_streams=self._max_streams,
                    streams=self._streams,
                    progress=tell,
                )
            finally:
                if shown is not None:
                    shown.close()
            tables.append(found)
            totals.append({"file": name, **json.loads(said)})
        return tables, totals

    def _table(self, name: str) -> Table:
        return _joined([one[name] for one in self._plain])

    def _trace(self, name: str) -> Table:
        for _, source in self._captures:
            if hasattr(source, "read"):
                raise errors.UsageError(
                    f"`{name}` reads the capture a second time, and a file object is read once: give its path or bytes"
                )
        tables, self._totals = self._read(name)
        return _joined([one[name] for one in tables])

    @functools.cached_property
    def streams(self) -> Table:
        """A row for each stream: addresses, state, round trip, and what each direction (``c2s_``, ``s2c_``) sent."""
        return self._table("streams")

    @functools.cached_property
    def findings(self) -> Table:
        """A row for each finding: what happened, why, and what to do."""
        return self._table("findings")

    @functools.cached_property
    def budget(self) -> Table:
        """Where the time of each stream went, in microseconds. The times of all classes of a stream add up to its duration."""
        return self._table("budget")

    @functools.cached_property
    def requests(self) -> Table:
        """A row for each request of a stream (the first 256), with its answer and where its time went.

        Column ``requests`` of :attr:`streams` counts all requests.
        """
        return self._table("requests")

    @functools.cached_property
    def episodes(self) -> Table:
        """A row for each recovery episode: the first 256 in each direction of a stream.

        Columns ``c2s_episodes`` and ``s2c_episodes`` of :attr:`streams` count all episodes.
        """
        return self._table("episodes")

    @functools.cached_property
    def acks(self) -> Table:
        """A row for each ACK of new data: what triggered it, and how long it waited. Reads the capture again."""
        return self._trace("acks")

    @functools.cached_property
    def packets(self) -> Table:
        """A row for each TCP packet, by stream. Reads the capture again.

        Packets beyond ``max_packets`` of :func:`analyze` are left out; ``totals[0]["rows_left_out"]`` counts them.
        """
        return self._trace("packets")

    @functools.cached_property
    def spans(self) -> Table:
        """A row for each interval of a stream, with its class of time (at most 8,192 per stream). Reads the capture again."""
        return self._trace("spans")

    @property
    def totals(self) -> list[dict[str, Any]]:
        """Counts of each capture, as in ``tcplab analyze --json``: packets, malformed packets, findings that were not checked.

        ``error`` says where a capture is damaged. The tables cover the capture up to the damage.
        """
        return self._totals

    def plot(self, *, library: str | None = None) -> Any:
        """Draws where the time of each stream went, as bars; see :func:`tcplab.plot.budget`."""
        from tcplab import plot

        return plot.budget(self.budget, library=library)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document of ``tcplab analyze --json`` (schema ``tcplab.analyze/1``). Reads the captures again."""
        captures: list[dict[str, Any]] = []
        schema = ""
        for name, source in self._captures:
            text = _native.report(source, name, max_streams=self._max_streams, streams=self._streams, progress=None)
            said = json.loads(text)
            schema = said["schema"]
            captures += said["captures"]
        return {"schema": schema, "captures": captures}

    def _page_arguments(self) -> tuple[list[str | os.PathLike[str]], bytes | None]:
        if len(self._captures) == 1 and isinstance(self._captures[0][1], bytes):
            return ["analyze", "-"], self._captures[0][1]
        paths: list[str | os.PathLike[str]] = ["analyze"]
        for _, source in self._captures:
            if not isinstance(source, (str, os.PathLike)):
                raise errors.UsageError("the page needs captures that are paths, or one that is bytes")
            paths.append(source)
        return paths, None

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(
            "an Analysis reads its captures on demand, so it is neither pickled nor copied: "
            "take its tables (analysis.streams) or analysis.to_dict(), or call tl.analyze again"
        )

    def __repr__(self) -> str:
        files = ", ".join(name for name, _ in self._captures)
        return f"<Analysis of {files}: {len(self.streams)} streams, {len(self.findings)} findings>"


def _joined(tables: list[Table]) -> Table:
    return tables[0] if len(tables) == 1 else _native.Table.joined(tables)


def _name(source: Capture, at: int) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"capture {at}"


def _names(sources: Sequence[Capture]) -> list[str]:
    """A name for each: a file that is listed twice is ``a.pcap`` and ``a.pcap (2)``."""
    found: list[str] = []
    for at, source in enumerate(sources):
        first = _name(source, at)
        candidates = itertools.chain([first], (f"{first} ({n})" for n in itertools.count(2)))
        found.append(next(name for name in candidates if name not in found))
    return found


def analyze(
    captures: Capture | Iterable[Capture],
    *,
    streams: Sequence[int] = (),
    max_packets: int | None = None,
    max_streams: int | None = 1_000_000,
    progress: _progress.Wanted = None,
) -> Analysis:
    """Analyses captures: streams, findings, where the time went, ACKs, packets.

    Parameters
    ----------
    captures
        A path, bytes, a file opened in binary mode, or a list of these. The format is pcap, pcapng or the text of
        ``tcpdump -n``, plain or compressed by gzip or zstd. A file that is listed twice is named ``a.pcap`` and
        ``a.pcap (2)``.
    streams
        Analyse only the streams with these numbers (Wireshark's); empty: all streams.
    max_packets
        Maximum number of packets in :attr:`Analysis.packets`, ``acks`` and ``spans``, at least 1; None: all. Each packet
        takes about 200 bytes.
    max_streams
        Maximum number of open connections in memory, and of closed connections. Above the limit, the least recently
        active connection is reported early; ``evicted_streams`` of :attr:`Analysis.totals` counts these connections.
    progress
        None: on a terminal or in a notebook, show tqdm's bar. False: show no bar. A callable with the interface of
        ``tqdm.tqdm`` is used instead of tqdm.

    Returns
    -------
    Analysis

    Raises
    ------
    OSError
        A file cannot be opened.
    InputError
        A file is not a capture, or ``streams`` has the number of a stream that does not exist. A damaged capture is not an
        error: it is read up to the damage (see :attr:`Analysis.totals`).

    Examples
    --------
    >>> analysis = tl.analyze("slow.pcapng")                  # doctest: +SKIP
    >>> polars.DataFrame(analysis.findings)                   # doctest: +SKIP
    """
    wanted = wholes("streams", streams)
    several = not isinstance(captures, (str, os.PathLike, bytes)) and not hasattr(captures, "read")
    sources: list[Any] = list(captures) if several else [captures]  # type: ignore[arg-type]
    if not sources:
        raise errors.UsageError("there is no capture in the list")
    named = list(zip(_names(sources), sources, strict=True))
    analysis = Analysis(named, streams=wanted, max_packets=max_packets, max_streams=max_streams, progress=progress)
    for said in analysis.totals:
        error = said.get("error")
        if error is not None and said["packets"] == 0:
            raise errors.InputError(f"{said['file']}: offset {error['offset']}: {error['message']}")
    most = max(said["tcp_streams"] for said in analysis.totals)
    if lacking := [number for number in wanted if number >= most]:
        numbers = ", ".join(map(str, lacking))
        raise errors.InputError(f"no stream {numbers}: {analysis.totals[0]['file']} has {most} TCP streams, from number 0")
    return analysis
