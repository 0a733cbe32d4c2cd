"""Columns of tables have the types of their values; tables are pickled and copied."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import tcplab as tl


def test_axes_of_numbers_are_numbers() -> None:
    one = tl.experiment(
        links=[tl.Link(rate="8mbit", delay="10ms")],
        apps=[tl.App("bulk", bytes=tl.axis(1000, 20000)), tl.App("stream", chunk=tl.axis("88", "1 kB"), every="10ms", count=2)],
        measures=["bulk.client_written_bytes"],
    )
    changes = {"host.client.socket.nodelay": [True, False]}
    run = tl.run(one, repeat=2, set=changes)
    for table in (run.points, run.summary):
        schema = pa.schema(pa.table(table).schema)
        assert schema.field("bytes").type == pa.int64()
        assert schema.field("host.client.socket.nodelay").type == pa.bool_()
        assert table["chunk"][0] == "88"
    assert run.points["repeat"][:2] == [1, 2] and set(run.points["bytes"]) == {1000, 20000}
    assert pl.DataFrame(run.points).filter(bytes=20000, repeat=1).height == 4


def test_axes_of_fractions_are_floats() -> None:
    one = tl.experiment(apps=[tl.App("bulk", bytes=1000)])
    sizes = tl.run(one, set={"app.bulk.bytes": [1000.0, 2000]}).points
    assert sizes["app.bulk.bytes"] == [1000.0, 2000.0] and pa.table(sizes).schema.field("app.bulk.bytes").type == pa.float64()
    assert tl.run(one, set={"app.bulk.bytes": [1000, "2 kB"]}).points["app.bulk.bytes"] == ["1000", "2 kB"]


def test_a_seed_of_64_bits_is_an_integer() -> None:
    run = tl.run(tl.experiment(apps=[tl.App("bulk", bytes=1000)]), seed=2**64 - 1)
    assert run.points["seed"] == [2**64 - 1]
    assert pa.table(run.points).schema.field("seed").type == pa.uint64()
    assert "18446744073709551615" in run.points._repr_html_()


def test_a_table_is_pickled_and_copied(captures: Path) -> None:
    columns = [("n", "int", "us", "N."), ("u", "unsigned", "", ""), ("f", "float", "", ""), ("t", "text", "", ""), ("b", "flag", "", "")]
    small = tl.Table.of("t", columns, [[-(2**63), 2**64 - 1, 0.1, "ä", True], [None] * 5])
    for table in (small, tl.analyze(captures / "bulk-rto.a.pcap").packets, tl.Table.of("none", columns, [])):
        for other in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table), copy.copy(table)):
            assert (other.name, other.to_dict()) == (table.name, table.to_dict())
            assert pa.table(other).schema.equals(pa.table(table).schema, check_metadata=True)


def test_an_analysis_is_not_pickled(captures: Path) -> None:
    analysis = tl.analyze(captures / "bulk-rto.a.pcap")
    for act in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"take its tables .* or analysis.to_dict\(\)"):
            act(analysis)
