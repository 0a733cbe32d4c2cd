"""Experiments: the same answer as the command; in code as in a file; errors that say the way out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import tcplab as tl
from tcplab import _command
from tcplab.experiment import to_toml


def command(*args: object) -> dict[str, object]:
    out = subprocess.run([_command.command_path(), *map(str, args), "--json"], capture_output=True, check=True)
    return json.loads(out.stdout)


def built() -> tl.Experiment:
    return tl.experiment(
        "small-writes",
        links=[tl.Link(rate="10mbit", delay="25ms")],
        apps=[tl.App("stream", chunk=tl.axis("88", "1 kB"), every="100ms", count=20)],
        measures=["client.acks.delayed", "stream.goodput_bps"],
        link_every="100ms",
        tcp_info_every="100ms",
    )


def test_a_run_is_that_of_the_command(examples: Path) -> None:
    path = examples / "delayed-ack.toml"
    run = tl.run(path)
    assert isinstance(run, tl.Run)
    assert run.digests == [point["digest"] for point in command("run", path)["points"]]  # type: ignore[index]
    points = run.points
    document = run.to_dict()
    for measure in document["measures"]:
        name = measure["name"]
        assert points[name] == [point["measures"][name] for point in document["points"]]
        assert points.units[name] == measure["unit"]


def test_an_experiment_in_code_is_that_of_its_file(tmp_path: Path) -> None:
    experiment = built()
    run = tl.run(experiment)
    experiment.write(tmp_path / "small-writes.toml")
    assert run.digests == tl.run(tmp_path / "small-writes.toml").digests
    assert run.digests == tl.run(experiment.to_toml()).digests
    assert run.points["chunk"] == ["88", "1 kB"]
    assert run.points.units["stream.goodput_bps"] == "bit/s"
    both = {"app": [{"kind": "stream", "chunk": "88", "every": "100ms", "count": 20}]}
    assert len(tl.run(both).points) == 1


def test_what_happened_over_time(tmp_path: Path) -> None:
    run = tl.run(built(), out=tmp_path / "kept")
    links = pl.DataFrame(run.links)
    assert set(links["link"]) == {"client-server"} and set(links["way"]) == {"a_to_b", "b_to_a"}
    assert pa.table(run.tcp_info).num_rows == len(run.tcp_info) > 0
    assert run.tcp_info.units["tcpi_rtt"] == "us"
    assert {"client", "server"} == set(run.counters["host"])
    assert (tmp_path / "kept" / "manifest.json").is_file()
    again = tl.run(tmp_path / "kept" / "manifest.json")
    assert again.digests == run.digests


def test_changes_of_a_file(examples: Path) -> None:
    run = tl.run(examples / "delayed-ack.toml", on="model:linux-6.1", set={"app.stream.count": [5, 9]}, seed=7)
    assert run.points["seed"] == [7, 7]
    assert len(run.points) == 2


def test_errors_say_the_place_and_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(tl.InputError, match="did you mean `chunk`") as caught:
        tl.run({"app": [{"kind": "stream", "chnk": 1}]})
    assert "app.1: unknown key `chnk`" in str(caught.value)
    with pytest.raises(tl.UsageError):
        tl.run(built(), on="modle")
    with pytest.raises(tl.UsageError):
        tl.run(3)  # type: ignore[arg-type]
    with pytest.raises(tl.CannotRun):
        tl.run({"link": [{"by": "kernel"}], "app": [{"kind": "stream", "count": 1}]}, on="model")
    (tmp_path / "file").write_text("x")
    with pytest.raises(tl.TcplabError):
        tl.run(built(), out=tmp_path / "file")
    with pytest.raises(TypeError, match="no bytes"):
        to_toml({"a": b"x"})


def test_progress_by_the_protocol_of_tqdm(examples: Path) -> None:
    class Bar:
        made: list[Bar] = []

        def __init__(self, total: int | None = None, **_: object) -> None:
            self.total, self.n, self.closed = total, 0, False
            Bar.made.append(self)

        def update(self, n: int) -> None:
            self.n += n

        def close(self) -> None:
            self.closed = True

    tl.run(examples / "delayed-ack.toml", progress=Bar)
    (bar,) = Bar.made
    assert (bar.n, bar.total, bar.closed) == (4, 4, True)


LONG = """
import sys, tcplab as tl
print("begins", flush=True)
try:
    tl.run({"run": {"max": "3000s", "max_events": 4_000_000_000}, "link": [{"rate": "1gbit", "delay": "1ms"}],
            "app": [{"kind": "bulk", "duration": "2000s"}]}, progress=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def waits_for(what: object, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def started() -> tuple[subprocess.Popen[str], int]:
    python = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True, env={**os.environ})
    assert python.stdout is not None and python.stdout.readline() == "begins\n"
    waits_for(lambda: children(python.pid))
    # The command has read its options.
    time.sleep(0.5)
    return python, children(python.pid)[0]


def test_ctrl_c_ends_the_run() -> None:
    python, child = started()
    python.send_signal(signal.SIGINT)
    assert python.communicate(timeout=20)[0] == "interrupted\n"
    assert not Path(f"/proc/{child}").exists()


def test_a_killed_python_leaves_no_run_behind() -> None:
    python, child = started()
    python.kill()
    python.communicate(timeout=20)
    waits_for(lambda: not Path(f"/proc/{child}").exists())


def test_threads_run_at_once(examples: Path) -> None:
    digests: list[list[str]] = []
    run = lambda: digests.append(tl.run(examples / "delayed-ack.toml").digests)  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(digests) == 4 and all(one == digests[0] for one in digests)


def test_a_population(tmp_path: Path, examples: Path) -> None:
    result = tl.population(examples / "rto-p4.toml", connections=200, out=tmp_path / "kept")
    document = json.loads((tmp_path / "kept" / "summary.json").read_text())
    assert [row["arm"] for row in document["rows"]] == result.rows["arm"]
    assert len(result.arms) == len(document["arms"])
    assert isinstance(tl.run(examples / "rto-p4.toml", connections=50), tl.PopulationResult)
    with pytest.raises(tl.UsageError, match="use tl.run"):
        tl.population(examples / "delayed-ack.toml")


def test_on_a_kernel(examples: Path) -> None:
    stacks = tl.stacks()
    lacks = dict(zip(stacks["stack"], stacks["lacks"], strict=True))
    if lacks.get("uml:6.1", "no such stack") is not None:
        pytest.skip(f"uml:6.1: {lacks.get('uml:6.1')}")
    run = tl.run(examples / "delayed-ack.toml", on="uml:6.1")
    assert run.points["stack"] == ["uml:6.1"] and run.counters["value"]
    assert run.digests == tl.run(examples / "delayed-ack.toml", on="uml:6.1").digests


def test_the_mean_of_repetitions_has_the_interval_of_the_terminal() -> None:
    run = tl.run(tl.examples()["two-hosts"], repeat=4)
    summary = run.summary
    assert len(summary) == len(run.to_dict()["measures"]) * 2 and set(summary["runs"]) == {4}
    rows = pl.DataFrame(summary).filter(pl.col("measure") == "bulk.goodput_bps")
    means = pl.DataFrame(run.points).group_by("variant", maintain_order=True).agg(pl.col("bulk.goodput_bps").mean())
    assert rows["mean"].to_list() == pytest.approx(means["bulk.goodput_bps"].to_list())
    assert (rows["interval_low"] <= rows["mean"]).all() and (rows["mean"] <= rows["interval_high"]).all()
    assert run.plot() is not None
    verdicts = pl.DataFrame(run.verdicts()).filter(pl.col("measure") == "bulk.goodput_bps")
    assert verdicts["arm"].to_list() == ["cubic", "bbr"] and verdicts["verdict"].to_list() == [None, "better"]
    assert verdicts["low_percent"][1] < verdicts["change_percent"][1] < verdicts["high_percent"][1]
    turned = pl.DataFrame(run.verdicts(base="bbr")).filter(pl.col("measure") == "bulk.goodput_bps")
    assert turned["verdict"].to_list() == ["worse", None]
    with pytest.raises(tl.UsageError, match="no variant `vegas`"):
        run.verdicts(base="vegas")


def test_variants_without_effect_are_told() -> None:
    control = "net.ipv4.tcp_congestion_control"
    download = tl.experiment(
        apps=[tl.App("bulk", bytes="200 kB", reverse=True)],
        variants=[tl.Variant(cc, {"host.client.sysctl": {control: cc}}) for cc in ("cubic", "bbr")],
    )
    with pytest.warns(UserWarning, match="the variants `cubic`, `bbr` gave the same counters and times"):
        tl.run(download)
