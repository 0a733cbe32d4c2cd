"""Captures: the same answer as the command, in every form of table."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tcplab as tl
from tcplab import _command

NAMES = ["bulk-rto.a.pcap", "request-held.b.pcap", "quickack-6.1.176.a.pcap"]


def said(*args: object) -> bytes:
    """What the command prints."""
    return subprocess.run([_command.command_path(), *map(str, args)], capture_output=True, check=True).stdout


def test_the_document_is_that_of_the_command(captures: Path) -> None:
    files = [str(captures / name) for name in NAMES]
    assert tl.analyze(files).to_dict() == json.loads(said("analyze", "--json", *files))


def test_tables_say_what_the_document_says(captures: Path) -> None:
    files = [str(captures / name) for name in NAMES]
    analysis = tl.analyze(files)
    document = analysis.to_dict()["captures"]
    streams = [(one["file"], stream) for one in document for stream in one["streams"]]
    table = analysis.streams
    assert table["file"] == [file for file, _ in streams]
    for column, value in {
        "stream": lambda s: s["stream"],
        "client": lambda s: s["client"],
        "duration_us": lambda s: s["duration_us"],
        "c2s_packets": lambda s: s["client_to_server"]["packets"],
        "s2c_goodput_bps": lambda s: s["server_to_client"]["goodput_bps"],
        "s2c_retransmissions_rto": lambda s: s["server_to_client"]["retransmissions"]["rto"],
    }.items():
        assert table[column] == [value(stream) for _, stream in streams], column
    budget = pl.DataFrame(analysis.budget).group_by("file", "stream").agg(pl.col("time_us").sum()).sort("file")
    assert budget["time_us"].to_list() == [s["duration_us"] for _, s in sorted(streams, key=lambda one: one[0])]
    ids = [(one["file"], finding["id"]) for one in document for finding in one["findings"]]
    assert sorted(zip(analysis.findings["file"], analysis.findings["id"], strict=True)) == sorted(ids)


def test_acks_are_those_of_the_command(captures: Path) -> None:
    file = captures / "quickack-6.1.176.a.pcap"
    lines = [json.loads(line) for line in said("analyze", "--acks", "--json", file).splitlines()]
    acks = tl.analyze(file).acks
    ours = [dict(zip(acks.columns, row, strict=True)) for row in zip(*acks.to_dict().values(), strict=True)]
    assert ours == [{key: line.get(key) for key in acks.columns} for line in lines]
    assert acks.units["wait_us"] == "us" and acks.descriptions["class"]


def test_every_reader_of_arrow_reads_the_same(captures: Path) -> None:
    packets = tl.analyze(captures / "bulk-rto.a.pcap").packets
    whole = packets.to_dict()
    assert pl.DataFrame(packets).to_dict(as_series=False) == whole
    arrow = pa.table(packets)
    assert arrow.to_pydict() == whole
    assert arrow.schema.field("in_flight_bytes").metadata[b"unit"] == b"bytes"
    frame = pd.DataFrame.from_arrow(packets)
    assert frame["seq"].tolist() == whole["seq"]
    rows = duckdb.sql("select sum(payload_bytes), count(*) from packets").fetchall()
    assert rows == [(sum(whole["payload_bytes"]), len(packets))]


def test_a_path_bytes_and_a_file_are_the_same_capture(captures: Path) -> None:
    path = captures / "bulk-loss.a.pcap"
    data = path.read_bytes()
    streams = tl.analyze(path).streams.to_dict()
    with path.open("rb") as file:
        from_file = tl.analyze(file)
    for other in (tl.analyze(data), from_file, tl.analyze(str(path))):
        assert {**other.streams.to_dict(), "file": streams["file"]} == streams
    with pytest.raises(tl.UsageError, match="give its path or bytes"):
        _ = from_file.packets
    with path.open("r", encoding="latin-1") as text, pytest.raises(TypeError, match='"rb"'):
        tl.analyze(text)  # type: ignore[arg-type]


def test_some_streams_and_some_packets(captures: Path) -> None:
    path = captures / "bulk-loss.a.pcap"
    few = tl.analyze(path, max_packets=10)
    assert len(few.packets) < len(tl.analyze(path).packets)
    assert few.totals[0]["rows_left_out"] > 0 or len(few.packets) >= 10
    assert len(tl.analyze(path, streams=[0]).streams) == 1
    with pytest.raises(tl.InputError, match="no stream 7"):
        tl.analyze(path, streams=[7])


def test_what_is_no_capture_is_told(tmp_path: Path, captures: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tl.analyze(tmp_path / "none.pcap")
    with pytest.raises(tl.InputError, match="offset"):
        tl.analyze(b"no capture")
    with pytest.raises(tl.UsageError):
        tl.analyze([])
    whole = (captures / "bulk-loss.a.pcap").read_bytes()
    cut = tl.analyze(whole[:-7])
    assert cut.totals[0]["error"]["message"] and len(cut.streams) == 1


def test_an_exception_of_a_file_is_raised_as_it_is(captures: Path) -> None:
    class Broken(io.RawIOBase):
        def read(self, n: int = -1) -> bytes:
            raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        tl.analyze(Broken())  # type: ignore[arg-type]


def test_the_page_in_a_notebook(captures: Path) -> None:
    analysis = tl.analyze(captures / "bulk-loss.a.pcap")
    assert "bulk-loss" in analysis.html()
    assert (analysis._repr_html_() or "").startswith("<iframe")
    assert "tcplab" in tl.analyze((captures / "bulk-loss.a.pcap").read_bytes()).html()


def test_a_file_that_is_listed_twice_has_two_names(captures: Path) -> None:
    path = str(captures / "bulk-rto.a.pcap")
    analysis = tl.analyze([path, path])
    assert analysis.streams["file"] == [path, f"{path} (2)"]
    assert len({row["stream"] for row in analysis.plot(library="altair").data.values}) == 2
