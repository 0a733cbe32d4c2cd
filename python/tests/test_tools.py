"""Scripts, comparisons, stacks, charts, and the module itself."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import tcplab as tl
from tcplab import _command, plot

SCRIPT = """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1460>
+0 > S. 0:0(0) ack 1 <...>
"""


def test_scripts(tmp_path: Path) -> None:
    (tmp_path / "good.pkt").write_text(SCRIPT)
    (tmp_path / "bad.pkt").write_text(SCRIPT.replace("ack 1 <", "ack 7 <"))
    result = tl.drill(tmp_path)
    assert (result.passed > 0, result.failed > 0) == (True, True)
    verdicts = dict(zip(result.cases["script"], result.cases["verdict"], strict=True))
    assert verdicts == {str(tmp_path / "good.pkt"): "pass", str(tmp_path / "bad.pkt"): "fail"}
    with pytest.raises(tl.TcplabError):
        tl.drill(tmp_path / "none.pkt")


def test_comparisons(tmp_path: Path, examples: Path) -> None:
    for name, stack in (("before", "model:linux-6.1"), ("after", "model:linux-6.1.56")):
        tl.run(examples / "delayed-ack.toml", on=stack, out=tmp_path / name)
    result = tl.compare(tmp_path / "before", tmp_path / "after")
    again = tl.run(tmp_path / "before" / "manifest.json", out=tmp_path / "again")
    assert isinstance(again, tl.Run) and tl.compare(again, tmp_path / "after").summary == result.summary
    with pytest.raises(tl.UsageError, match="with out=FOLDER"):
        tl.compare(tl.run(tmp_path / "before" / "manifest.json"))  # type: ignore[arg-type]
    assert len(result.rows) > 0 and sum(result.summary.values()) >= len(result.rows)
    assert "</html>" in result.html()
    with pytest.raises(tl.UsageError):
        tl.compare([tmp_path / "before"])


def test_repeated_runs_are_samples_when_asked(tmp_path: Path) -> None:
    experiment = tl.experiment(
        "lossy",
        links=[tl.Link(rate="20mbit", delay="20ms", loss="0.5%")],
        apps=[tl.App("bulk", duration="5s")],
        variants=[tl.Variant(name, {"host.client.socket.congestion": name}) for name in ("cubic", "bbr")],
        measures=["bulk.goodput_bps"],
        repeat=8,
        captures=False,
    )
    tl.run(experiment, out=tmp_path / "run")
    exact = tl.compare(tmp_path / "run").rows
    rows = tl.compare(tmp_path / "run", sampled=True).rows
    at = rows["metric"].index("bulk.goodput_bps")
    assert exact["verdict"][at] == "differs" and exact["interval_low_percent"][at] is None
    assert rows["verdict"][at] == "better" and rows["paired"][at]
    assert 0 < rows["interval_low_percent"][at] < rows["change_percent"][at] < rows["interval_high_percent"][at]
    assert rows.units["interval_low_percent"] == "%"


def test_which_stack_sent_these_acks(captures: Path) -> None:
    path = captures / "quickack-6.1.176.a.pcap"
    result = tl.explain(path)
    assert len(result.receivers) >= 1
    assert tl.explain(path.read_bytes()).receivers.columns == result.receivers.columns


def test_stacks_and_examples(examples: Path) -> None:
    assert "uml:6.1" in tl.stacks()["stack"]
    assert {"linux-6.1", "freebsd-13.2"} <= set(tl.profiles()["profile"])
    assert tl.examples()["delayed-ack"] == (examples / "delayed-ack.toml").read_text()


@pytest.mark.parametrize("library", ["altair", "matplotlib"])
def test_charts(library: str, captures: Path) -> None:
    if library == "matplotlib":
        import matplotlib

        matplotlib.use("Agg")
    analysis = tl.analyze(captures / "bulk-rto.a.pcap")
    assert analysis.plot(library=library) is not None
    assert analysis.packets.plot("time_ns", "in_flight_bytes", "from", library=library) is not None
    rows = [{"t": 0.0, "cwnd": 10, "who": "a"}, {"t": 1.0, "cwnd": 12, "who": "a"}]
    assert tl.plot.lines(rows, "t", "cwnd", "who", library=library) is not None
    run = tl.run({"app": [{"kind": "stream", "chunk": {"axis": ["88", "1 kB"]}, "every": "10ms", "count": 5}]})
    chart = run.plot(library=library)
    if library == "altair":
        assert "bit/s" in chart.to_json() or "us" in chart.to_json()
    with pytest.raises(tl.UsageError, match="altair, matplotlib"):
        plot.lines(analysis.packets, "time_ns", "seq", library="gnuplot")


def test_a_chart_of_a_measure_finds_its_values(examples: Path) -> None:
    run = tl.run(examples / "delayed-ack-sizes.toml", on=["model:linux-6.1", "model:linux-6.1.56"])
    chart = run.plot(y="client.acks.delayed", library="altair").to_dict()
    encoding = chart["encoding"]
    # A bare dot would be a path into an object.
    assert encoding["y"]["field"] == "client\\.acks\\.delayed"
    assert (encoding["x"]["field"], encoding["x"]["type"]) == ("chunk", "quantitative")
    assert encoding["color"]["field"] == "stack"
    assert all("client.acks.delayed" in row for row in chart["data"]["values"])


def test_the_captures_of_a_run(tmp_path: Path, examples: Path) -> None:
    run = tl.run(examples / "write-write-read.toml", out=tmp_path / "run")
    captures = run.captures
    assert set(captures["host"]) == {"client", "server"} and set(captures["point"]) == set(run.points["point"])
    analysis = tl.analyze(captures["path"])
    assert len(analysis.streams) == len(captures)
    # Stream 0 of each capture has a bar of its own.
    bars = {row["stream"] for row in analysis.plot(library="altair").data.values}
    assert len(bars) == len(captures) and "0000/client.eth0.pcapng 0" in bars
    assert run.html() == tl.run(examples / "write-write-read.toml").html()
    with pytest.raises(tl.UsageError, match="out=FOLDER"):
        _ = tl.run(examples / "write-write-read.toml").captures


def test_a_table_of_rows() -> None:
    table = tl.Table.of("t", [("at_ns", "int", "ns", "When."), ("name", "text", "", "")], [[1, "a"], [None, None]])
    assert (len(table), table["at_ns"], table.units["at_ns"]) == (2, [1, None], "ns")
    with pytest.raises(KeyError, match="its columns are at_ns, name"):
        table["none"]
    with pytest.raises(TypeError):
        tl.Table.of("t", [("n", "int", "", "")], [["x"]])
    with pytest.raises(ValueError, match="2 columns"):
        tl.Table.of("t", [("a", "int", "", ""), ("b", "int", "", "")], [[1]])
    assert "<table" in table._repr_html_() and "&lt;" in tl.Table.of("<", [("<", "text", "", "")], [["<"]])._repr_html_()


def test_the_command_and_the_module_are_of_one_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tcplab"
    other.write_text("#!/bin/sh\necho tcplab 0.0.9\n")
    other.chmod(0o755)
    _command.command_path.cache_clear()
    monkeypatch.setenv("TCPLAB_COMMAND", str(other))
    with pytest.raises(tl.CannotRun, match="is version 0.0.9"):
        tl.stacks()
    monkeypatch.undo()
    _command.command_path.cache_clear()
    assert len(tl.stacks()) > 0


def test_everything_public_says_what_it_is() -> None:
    for name in tl.__all__:
        public = getattr(tl, name)
        if callable(public):
            assert inspect.getdoc(public), name
