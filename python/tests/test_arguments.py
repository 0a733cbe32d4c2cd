"""Arguments that are wrong are refused, with the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tcplab as tl


def test_an_empty_list_of_files_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n")
    monkeypatch.chdir(tmp_path)
    for empty in ([], (), iter([])):
        with pytest.raises(tl.UsageError, match="the list of files is empty"):
            tl.drill(empty)  # type: ignore[arg-type]
    with pytest.raises(tl.UsageError, match="before: the list of files is empty"):
        tl.compare([], ["a"])
    with pytest.raises(tl.UsageError, match="after: the list of files is empty"):
        tl.compare("a", [])
    with pytest.raises(tl.UsageError, match="no capture in the list"):
        tl.analyze([])
    with pytest.raises(tl.UsageError, match="a path is empty"):
        tl.drill("")
    with pytest.raises(TypeError, match="a path or a list of paths, not 3"):
        tl.drill([3])  # type: ignore[list-item]


def test_an_empty_list_is_not_the_current_folder_of_a_cluster() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(tl.UsageError, match="the list of files is empty"):
        tl.distributed.drill([])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"on": []}, tl.UsageError, "leave on out"),
        ({"jobs": 0}, tl.UsageError, "jobs=0: it must be at least 1"),
        ({"repeat": 0}, tl.UsageError, "repeat=0"),
        ({"repeat": 1.5}, TypeError, "repeat: a whole number, not 1.5"),
        ({"seed": -1}, tl.UsageError, "seed=-1"),
        ({"seed": True}, TypeError, "seed: a whole number, not True"),
        ({"connections": 0}, tl.UsageError, "connections=0"),
    ],
)
def test_numbers_of_a_run(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tl.run(tl.experiment(apps=[tl.App("bulk", bytes=1000)]), **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"streams": [-1]}, tl.UsageError, "streams=-1: it must be at least 0"),
        ({"streams": None}, TypeError, r"such as streams=\[0, 3\], not None"),
        ({"streams": 0}, TypeError, "a list of numbers"),
        ({"streams": "0"}, TypeError, "a list of numbers"),
        ({"streams": [True]}, TypeError, "not True"),
        ({"max_packets": -1}, tl.UsageError, "max_packets=-1"),
        ({"max_packets": 0}, tl.UsageError, "max_packets=0: it must be at least 1"),
        ({"max_packets": 1.5}, TypeError, "max_packets: a whole number"),
        ({"max_streams": 0}, tl.UsageError, "max_streams=0"),
    ],
)
def test_numbers_of_an_analysis(arguments: dict[str, Any], error: type[Exception], message: str, captures: Path) -> None:
    with pytest.raises(error, match=message):
        tl.analyze(captures / "bulk-rto.a.pcap", **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"apps": tl.App("bulk")}, TypeError, r"a list such as apps=\[tl.App"),
        ({"links": tl.Link()}, TypeError, r"a list such as links=\[tl.Link"),
        ({"hosts": "client"}, TypeError, "a list such as hosts="),
        ({"congestion": tl.Reno}, TypeError, 'congestion={"client": tl.Reno}'),
        ({"congestion": {"client": dict}}, tl.UsageError, "not derived from tl.CongestionControl"),
        ({"seed": 2**63}, tl.UsageError, "below 2\\^63"),
    ],
)
def test_arguments_of_a_world(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tl.World(**{"apps": [tl.App("bulk", bytes=1000)], **arguments})


@pytest.mark.parametrize(
    ("time", "error"), [(float("nan"), tl.UsageError), (-1, tl.UsageError), (None, TypeError), (True, TypeError)]
)
def test_times_of_a_world(time: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="a time is"):
        tl.World(apps=[tl.App("bulk", bytes=1000)]).run_until(time)
