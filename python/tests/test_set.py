"""Changes of a file (``set=``) are values, not words."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

import tcplab as tl
from tcplab._command import setting

numpy = pytest.importorskip("numpy")


def web(**more: Any) -> tl.Experiment:
    return tl.experiment(
        links=[tl.Link(rate="8mbit", delay="10ms")],
        apps=[tl.App("web"), tl.App("bulk", bytes=1000)],
        measures=["web.completed", "bulk.client_written_bytes"],
        **more,
    )


def axis_of(changes: dict[str, Any], key: str) -> list[Any]:
    return tl.run(web(), set=changes).points[key]


def test_a_list_is_an_axis_and_a_list_in_it_is_a_value() -> None:
    run = tl.run(web(), set={"app.web.sizes": [["10k", "20k"], ["5k"]]})
    assert run.points["web.completed"] == [2, 1]
    assert run.points["app.web.sizes"] == ['["10k","20k"]', '["5k"]']
    assert tl.run(web(), set={"app.web.sizes": [["10k", "20k"]]}).points["web.completed"] == [2]
    assert tl.World(web(), set={"app.web.sizes": [["10k", "20k"]]}).run().is_over
    with pytest.raises(tl.UsageError, match="the experiment has 2"):
        tl.World(web(), set={"app.web.sizes": ["10k", "20k"]})


@pytest.mark.parametrize(
    "values",
    [[1000, 2000], (1000, 2000), range(1000, 3000, 1000), numpy.array([1000, 2000]), [numpy.int64(1000), numpy.int32(2000)], tl.axis(1000, 2000)],
)
def test_values_of_an_axis_in_every_form(values: Any) -> None:
    assert axis_of({"app.bulk.bytes": values}, "app.bulk.bytes") == [1000, 2000]


def test_an_axis_may_have_a_name() -> None:
    assert axis_of({"app.bulk.bytes": tl.axis(1000, 2000, name="size")}, "size") == [1000, 2000]


def test_a_text_is_one_value_and_a_dict_a_table() -> None:
    assert setting("a.b", "max(x, y), 1") == 'a.b="max(x, y), 1"'
    with pytest.raises(tl.InputError, match="1mbit,2mbit"):
        tl.run(web(), set={"link.client-server.rate": "1mbit,2mbit"})
    run = tl.run(web(), set={"link.client-server.b_to_a": {"drop": ["data 3", "data 5"]}})
    assert len(run.points) == 1
    assert sum(v for c, v in zip(run.counters["counter"], run.counters["value"], strict=True) if c == "TcpRetransSegs") > 0


@pytest.mark.parametrize(
    ("value", "message"),
    [({1, 2}, "no set"), (None, "leave the key out"), ((n for n in (1, 2)), "no generator"), (b"x", "no bytes"), ([1, None], "NoneType")],
)
def test_values_that_cannot_be(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"app.bulk.bytes: .*tl.axis.*{message}"):
        tl.run(web(), set={"app.bulk.bytes": value})


def test_a_change_without_values_is_refused() -> None:
    with pytest.raises(tl.UsageError, match="app.bulk.bytes: the list of values is empty"):
        tl.run(web(), set={"app.bulk.bytes": []})


def test_values_of_numpy_in_an_experiment() -> None:
    one = tl.experiment(apps=[tl.App("bulk", bytes=numpy.int64(1000), connections=numpy.float64(2.0).astype(int))])
    assert "bytes = 1000\nconnections = 2\n" in one.to_toml()


def test_a_path_is_its_text() -> None:
    assert setting("app.replay.file", pathlib.Path("a/b.pcap")) == 'app.replay.file="a/b.pcap"'
