"""What a run warns of reaches its user: as a warning of Python, in ``messages``, in a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import tcplab as tl

NEVER = {"links": [tl.Link(rate="8mbit", delay="10ms", a_to_b={"drop": ["data 2000"]})], "apps": [tl.App("bulk", bytes="100 kB")]}
UNITS = {"links": [tl.Link(rate="8mbps", delay="10ms")], "apps": [tl.App("bulk", bytes="100 kB")]}


def told(what: Callable[[], Any]) -> tuple[Any, list[str]]:
    """A result, and its warnings, all of which name this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = what()
    assert all(one.filename == __file__ and one.category is tl.TcplabWarning for one in caught), [str(one) for one in caught]
    return result, [str(one.message) for one in caught]


def test_a_setting_that_changed_nothing() -> None:
    run, said = told(lambda: tl.run(tl.experiment(**NEVER)))
    (message,) = said
    assert "changed nothing" in message and message in run.messages
    assert run.warnings.to_dict() == {"point": [0], "stack": ["model:linux-6.1"], "kind": ["warning"], "message": [message]}
    world, said = told(lambda: tl.World(**NEVER).run())
    assert said == [message] == world.warnings


def test_points_that_share_a_warning_give_one() -> None:
    links = [tl.Link(rate="8mbit", delay="10ms", a_to_b={"drop": ["data 50"]})]
    one = tl.experiment(links=links, apps=[tl.App("bulk", bytes=tl.axis("5 kB", "10 kB", "200 kB"))])
    run, said = told(lambda: tl.run(one))
    assert len(said) == 1 and said[0].endswith("(2 of 3 points)")
    assert run.warnings["point"] == [0, 1]


def test_a_setting_that_was_left_out() -> None:
    host = tl.Host("client", sysctl={"net.core.netdev_budget": 300})
    tolerant = {"hosts": [host, "server"], "links": [], "apps": [tl.App("bulk", bytes=1000)], "tolerate": ["net.core.netdev_budget"]}
    tolerant["measures"] = ["bulk.duration_us"]
    run, said = told(lambda: tl.run(tl.experiment(**tolerant)))
    assert run.warnings["kind"] == ["left_out"] and said == run.messages == run.warnings["message"]
    assert "net.core.netdev_budget" in said[0]
    world, of_world = told(lambda: tl.World(tl.experiment(**tolerant)))
    assert of_world == said == world.warnings


def test_a_profile_that_was_never_compared() -> None:
    one = tl.experiment(apps=[tl.App("bulk", bytes=1000)], measures=["bulk.duration_us"])
    run, said = told(lambda: tl.run(one, on="model:linux-4.6"))
    assert len(said) == 1 and said[0].startswith("linux-4.6: unverified") and run.warnings["kind"] == ["unverified"]
    assert told(lambda: tl.World(one, stack="model:linux-4.6"))[1] == said
    assert told(lambda: tl.run(one, on="model:linux-6.1"))[1] == []


def test_a_unit_that_means_bytes() -> None:
    wanted = "`8mbps` is read as bytes a second"
    run, said = told(lambda: tl.run(tl.experiment(**UNITS)))
    assert len(said) == 1 and wanted in said[0] and sum(wanted in message for message in run.messages) == 1
    assert wanted in run.warnings["message"][0]
    for make in (lambda: tl.World(**UNITS), lambda: tl.World(apps=UNITS["apps"], set={"link.client-server.rate": "8mbps"}, links=[tl.Link()])):
        world, said = told(make)
        assert len(said) == 1 and wanted in said[0] and said == world.warnings


def test_a_measure_without_a_value_has_its_reason() -> None:
    one = tl.experiment(apps=[tl.App("bulk", bytes=1000)], measures=["client.acks.first_delayed_segment"])
    run, said = told(lambda: tl.run(one))
    assert said == []
    assert run.warnings["kind"] == ["missing"] and run.warnings["message"][0].startswith("client.acks.first_delayed_segment: ")


def test_connections_that_an_error_ended() -> None:
    unheard = tl.Link(rate="8mbit", delay="10ms", a_to_b={"drop": ["syn 1-20"]})
    one = tl.experiment(links=[unheard], apps=[tl.App("bulk", bytes=1000)], measures=["client.TcpExtTCPTimeouts"])
    run, said = told(lambda: tl.run(one))
    assert "bulk: the connection ended with ETIMEDOUT at the client" in said
    assert run.warnings["kind"][-1] == "failed"


def test_warnings_can_be_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", tl.TcplabWarning)
        with pytest.raises(tl.TcplabWarning, match="mbps"):
            tl.run(tl.experiment(**UNITS))
