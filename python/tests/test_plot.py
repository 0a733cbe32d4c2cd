"""Charts show what a run had: a line for each combination, means of repetitions only."""

from __future__ import annotations

from typing import Any

import matplotlib
import pytest

import tcplab as tl

matplotlib.use("Agg")

LIBRARIES = pytest.mark.parametrize("library", ["altair", "matplotlib"])


def shown(chart: Any, y: str) -> set[float]:
    """The values of a chart."""
    if hasattr(chart, "to_dict"):
        return {row[y] for row in chart.to_dict()["data"]["values"]}
    return {float(value) for line in chart.get_lines() for value in line.get_ydata()}


def experiment(**more: Any) -> tl.Experiment:
    return tl.experiment(
        links=[tl.Link(rate=tl.axis("4mbit", "8mbit"), delay=tl.axis("10ms", "100ms"))],
        apps=[tl.App("bulk", bytes=tl.axis(20000, 100000))],
        measures=["bulk.duration_us"],
        **more,
    )


@LIBRARIES
def test_each_combination_has_its_line(library: str) -> None:
    run = tl.run(experiment())
    chart = run.plot(library=library)
    assert shown(chart, "bulk.duration_us") == set(run.points["bulk.duration_us"])
    if library == "altair":
        encoding = chart.to_dict()["encoding"]
        assert (encoding["x"]["field"], encoding["color"]["field"]) == ("bytes", "delay, rate")
        assert encoding["y"]["title"] == "bulk.duration_us"
    else:
        assert len(chart.get_lines()) == 4 and chart.get_legend().get_title().get_text() == "delay, rate"


@LIBRARIES
def test_variants_and_stacks_are_not_averaged(library: str) -> None:
    variants = [tl.Variant("a"), tl.Variant("b", {"app.bulk.bytes": 300000})]
    one = tl.experiment(
        links=[tl.Link(rate="8mbit", delay=tl.axis("10ms", "30ms"))],
        apps=[tl.App("bulk", bytes=20000)],
        variants=variants,
        measures=["bulk.duration_us"],
    )
    run = tl.run(one, on=["model:linux-6.1", "model:linux-5.10"])
    for chosen in ({}, {"x": "delay", "color": "variant"}, {"x": "stack"}):
        chart = run.plot(**chosen, library=library)
        assert shown(chart, "bulk.duration_us") == set(run.points["bulk.duration_us"])


def test_the_mean_of_repetitions_says_so() -> None:
    lossy = tl.experiment(
        links=[tl.Link(rate="8mbit", delay="10ms", loss="2%")], apps=[tl.App("bulk", bytes="300 kB")], measures=["bulk.duration_us"]
    )
    run = tl.run(lossy, repeat=3)
    values = run.points["bulk.duration_us"]
    chart = run.plot(library="altair").to_dict()
    assert chart["encoding"]["y"]["title"] == "bulk.duration_us, mean of 3 runs"
    assert [row["bulk.duration_us"] for row in chart["data"]["values"]] == pytest.approx([sum(values) / 3])


def test_lines_of_numbers_go_from_left_to_right() -> None:
    one = tl.experiment(apps=[tl.App("bulk", bytes=tl.axis(100000, 20000))], measures=["bulk.duration_us"])
    (line,) = tl.run(one).plot(library="matplotlib").get_lines()
    assert list(line.get_xdata()) == [20000, 100000]


def test_what_cannot_be_drawn_is_refused() -> None:
    run = tl.run(experiment(), set={"link.client-server.rate": "8mbit"})
    with pytest.raises(tl.UsageError, match="no column `rte`; its columns are point, stack"):
        run.plot(x="rte")
    table = tl.Table.of("t", [("x", "int", "", ""), ("y", "int", "", "")], [[1, None], [2, None]])
    with pytest.raises(tl.UsageError, match="`y` has no value in any row"):
        table.plot("x", "y")
    with pytest.raises(tl.UsageError, match="row 1 has no `y`; its keys are x"):
        tl.plot.lines([{"x": 1, "y": 2}, {"x": 2}], "x", "y")
    with pytest.raises(tl.UsageError, match="one of altair, matplotlib"):
        tl.plot.lines([{"x": 1, "y": 2}], "x", "y", library="gnuplot")
    named = tl.experiment(
        apps=[tl.App("bulk", bytes=tl.axis(1000, 2000, name="bulk.duration_us"))], measures=["bulk.duration_us"]
    )
    with pytest.raises(tl.InputError, match="which is a measure"):
        tl.run(named)
