"""The simulator in steps."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from paths import both, digest, text

import tcplab as tl


@pytest.mark.parametrize("algorithm", [None, tl.Reno])
def test_steps_give_the_run_at_once(algorithm: type[tl.CongestionControl] | None) -> None:
    congestion = both(algorithm) if algorithm else None
    once = tl.World(text("loss"), seed=3, captures=True, congestion=congestion).run()
    steps = tl.World(text("loss"), seed=3, captures=True, congestion=congestion)
    count = 0
    while steps.run_until(steps.now + 0.0037):
        count += 1
        for connection in steps.connections:
            connection.info()
            assert connection.server.bytes_read <= connection.client.bytes_written
        steps.link()
        steps.counters("server")
    assert count > 100
    assert steps.is_over
    assert digest(once) == digest(steps)
    assert once.outcome() == steps.outcome()


def test_from_event_to_event() -> None:
    world = tl.World(text("loss"), seed=3, captures=True)
    times = [world.now_ns]
    while world.step():
        times.append(world.now_ns)
    assert times == sorted(times)
    assert len(set(times)) > 1000
    assert digest(world) == digest(tl.World(text("loss"), seed=3, captures=True).run())


def test_a_look_at_a_connection() -> None:
    world = tl.World(
        links=[tl.Link(rate="10mbit", delay="20ms", limit=100)],
        apps=[tl.App("bulk", bytes="1 MB")],
        congestion={"client": tl.Reno},
    )
    (connection,) = world.connections
    assert connection.info() is None
    assert world.run_until("150ms")
    assert world.now == 0.15
    assert world.now_ns == 150_000_000
    info = connection.info()
    assert info is not None
    assert info["tcpi_state"] == 1
    assert info["tcpi_snd_cwnd"] > 10
    assert connection.client.congestion == "py-reno"
    assert connection.server.congestion == "cubic"
    assert isinstance(connection.client.algorithm, tl.Reno)
    assert connection.server.algorithm is None
    assert connection.client.opened_ns == 40_000_000 + connection_overhead(world)
    assert connection.client.closed_ns is None
    assert connection.client.error is None
    assert connection.server.bytes_read > 0
    there, back = world.link("client", "server"), world.link("server", "client")
    assert there == world.link()
    assert there.queue_pkts > 0
    assert there.queue_bytes > there.queue_pkts * 1000
    assert back.delivered_bytes < there.delivered_bytes
    assert world.counters("client")["TcpActiveOpens"] == 1
    assert not world.run().is_over or world.outcome()["flows"][0]["server"]["read_bytes"] == 1_000_000
    with pytest.raises(RuntimeError, match="outcome was taken"):
        connection.info()


def connection_overhead(world: tl.World) -> int:
    """The time of a SYN and its answer on a wire of 10 Mbit/s, in ns."""
    opened = world.connections[0].client.opened_ns
    assert opened is not None
    assert 0 < opened - 40_000_000 < 200_000
    return opened - 40_000_000


def test_other_threads_go_on_while_it_runs() -> None:
    world = tl.World(links=[tl.Link(rate="1gbit", delay="1ms")], apps=[tl.App("bulk", bytes="300 MB")])
    thread = threading.Thread(target=world.run)
    thread.start()
    busy = 0
    while thread.is_alive():
        try:
            world.now_ns
        except RuntimeError:
            busy += 1
    assert busy > 0
    assert world.is_over


def test_an_experiment_in_every_form(tmp_path: Path) -> None:
    built = {
        "hosts": [tl.Host("a", sysctl={"net.ipv4.tcp_ecn": 1}), "b"],
        "links": [tl.Link("a", "b", rate="10mbit", delay="5ms", a_to_b={"drop": ["data 20"]})],
        "apps": [tl.App("bulk", client="a", server="b", bytes="200 kB")],
    }
    code = tl.experiment(seed=5, **built)
    path = tmp_path / "one.toml"
    code.write(path)
    table = {
        "run": {"seed": 5},
        "host": [{"name": "a", "sysctl": {"net.ipv4.tcp_ecn": 1}}, {"name": "b"}],
        "link": [{"between": ["a", "b"], "rate": "10mbit", "delay": "5ms", "a_to_b": {"drop": ["data 20"]}}],
        "app": [{"kind": "bulk", "client": "a", "server": "b", "bytes": "200 kB"}],
    }
    forms = [code, path, str(path), path.read_text(), table]
    digests = {digest(tl.World(form, captures=True).run()) for form in forms}
    digests.add(digest(tl.World(seed=5, captures=True, **built).run()))
    assert len(digests) == 1
    other = tl.World(path, captures=True, set={"link.a-b.rate": "5mbit"}).run()
    assert digest(other) not in digests


def test_its_captures_are_those_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(text("loss"))
    try:
        tl.run(path, on="model", seed=2, out=tmp_path / "out")
    except tl.CannotRun as why:
        pytest.skip(str(why))
    files = sorted((tmp_path / "out").rglob("*.pcapng"))
    world = tl.World(path, seed=2, captures=True).run()
    assert len(files) == 2
    assert sorted(file.read_bytes() for file in files) == sorted(world.captures().values())


def test_captures_are_analysed() -> None:
    world = tl.World(text("loss"), seed=1, captures=True).run()
    assert "client-eth0" in world.captures() or len(world.captures()) == 2
    analysis = tl.analyze(next(iter(world.captures().values())))
    assert len(analysis.streams) == 5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"links": [tl.Link(by="kernel")]}, tl.CannotRun, "link"),
        ({"hosts": [tl.Host("client", sysctl={"net.ipv4.tcp_nothing": 1}), "server"]}, tl.CannotRun, "tcp_nothing"),
        ({"hosts": [tl.Host("client", sysctl={"net.ipv4.tcp_autocorking": 1}), "server"]}, tl.CannotRun, "run it on uml:"),
        ({"links": [tl.Link(rte="1mbit")]}, tl.InputError, "rte"),
        ({"stack": "uml:6.1"}, tl.UsageError, "a world runs on the model"),
        ({"stack": "model:linux-1.0"}, tl.UsageError, "model:linux-6.1"),
        ({"links": [tl.Link(rate=tl.axis("1mbit", "2mbit"))]}, tl.UsageError, "the experiment has 2"),
        ({"variant": "x"}, tl.UsageError, "no variant `x`"),
        ({"congestion": {"nobody": tl.Reno}}, tl.UsageError, "no host `nobody`"),
        ({"congestion": {"client": type("cubic", (tl.Reno,), {"name": "cubic"})}}, tl.UsageError, "another name"),
    ],
)
def test_what_a_world_does_not_honour_is_refused(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        tl.World(apps=[tl.App("bulk", bytes="10 kB")], **arguments)
    assert message in str(caught.value)


def test_words_that_are_wrong() -> None:
    world = tl.World(text("loss"))
    with pytest.raises(tl.UsageError, match="no time"):
        world.run_until("soon")
    with pytest.raises(tl.UsageError, match="no host `c`"):
        world.counters("c")
    with pytest.raises(tl.UsageError, match="no link"):
        world.link("client", "c")
    with pytest.raises(tl.UsageError, match="not of both"):
        tl.World(text("loss"), apps=[tl.App("bulk")])


def test_refusals_are_those_of_the_command() -> None:
    """Word for word, but for the name of the file."""
    wrong = tl.experiment(
        hosts=[tl.Host("client", sysctl={"net.ipv4.tcp_autocorking": 1, "net.ipv4.tcp_nothing": 1}), "server"],
        links=[tl.Link(by="kernel")],
        apps=[tl.App("bulk", bytes="10 kB")],
    )
    with pytest.raises(tl.CannotRun) as here:
        tl.World(wrong)
    with pytest.raises(tl.TcplabError) as there:
        tl.run(wrong, on="model")
    if isinstance(there.value, tl.CannotRun) and "TCPLAB_COMMAND" in str(there.value):
        pytest.skip(str(there.value))
    assert str(here.value) == str(there.value).replace("stdin: ", "experiment: ")
    assert str(here.value).startswith("experiment: model: ")
    assert type(here.value) is type(there.value)
