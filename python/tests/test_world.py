"""The simulator in steps, and a congestion control written in Python in it."""

from __future__ import annotations

import hashlib
import threading
import traceback
from pathlib import Path

import pytest

import tcplab as tl

HOSTS = """
[run]
max = "60s"

[[host]]
name = "client"
sysctl = {{ "net.ipv4.tcp_congestion_control" = "reno", {0} }}

[[host]]
name = "server"
sysctl = {{ "net.ipv4.tcp_congestion_control" = "reno", {0} }}
"""

#: What each meets, a counter that says so, and how often at least over all seeds.
PATHS = {
    "loss": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 40
loss = "1%"

[[app]]
kind = "bulk"
bytes = "600 kB"

[[app]]
kind = "web"
connections = 4
stagger = "30ms"
sizes = ["4 kB", "40 kB"]
think = "50ms"
""",
        {"TcpExtTCPSackRecovery": 10},
    ),
    "timeouts": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "10mbit"
delay = "20ms"
limit = 60
burst_loss = "1% 15%"
outage = ["300ms..900ms", "2s..4500ms"]

[[app]]
kind = "bulk"
bytes = "1 MB"
""",
        {"TcpExtTCPTimeouts": 20, "TcpExtTCPLossUndo": 1},
    ),
    "ecn": (
        '"net.ipv4.tcp_ecn" = 1',
        """
[[link]]
rate = "20mbit"
delay = "15ms"
qdisc = "codel limit 200 target 2ms interval 30ms ecn"

[[app]]
kind = "bulk"
connections = 2
bytes = "1 MB"
""",
        {"TcpExtTCPDeliveredCE": 100},
    ),
    "idle": (
        '"net.ipv4.tcp_slow_start_after_idle" = 1',
        """
[[link]]
rate = "50mbit"
delay = "20ms"
limit = 50
loss = "0.2%"

[[app]]
kind = "stream"
chunk = "120 kB"
every = "1500ms"
count = 12
""",
        {},
    ),
    "reordering": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 100
reordering = "0.3% by 25ms"
spikes = "0.4% median 600ms sigma 0.3"

[[app]]
kind = "bulk"
bytes = "1 MB"
""",
        {"TcpExtTCPPartialUndo": 1},
    ),
}

SEEDS = range(1, 6)


def text(name: str) -> str:
    sysctls, rest, _ = PATHS[name]
    return HOSTS.format(sysctls) + rest


def digest(world: tl.World) -> str:
    """Of every packet at every interface, with its time."""
    assert all(len(data) > 1000 for data in world.captures().values())
    return hashlib.sha256(b"".join(world.captures().values())).hexdigest()


def both(algorithm: type[tl.CongestionControl]) -> dict[str, type[tl.CongestionControl]]:
    return {"client": algorithm, "server": algorithm}


@pytest.mark.parametrize("name", PATHS)
def test_reno_in_python_gives_the_packets_of_reno(name: str) -> None:
    met = dict.fromkeys(PATHS[name][2], 0)
    for seed in SEEDS:
        own = tl.World(text(name), seed=seed, captures=True).run()
        mine = tl.World(text(name), seed=seed, captures=True, congestion=both(tl.Reno)).run()
        assert digest(own) == digest(mine), f"seed {seed}"
        for host in own.hosts:
            counters = own.counters(host)
            assert counters == mine.counters(host)
            for counter in met:
                met[counter] += counters[counter]
    for counter, least in PATHS[name][2].items():
        assert met[counter] >= least, met


def test_the_pauses_restart_the_window() -> None:
    on = text("idle")
    off = on.replace("after_idle\" = 1", "after_idle\" = 0")
    assert on != off
    worlds = [tl.World(one, seed=1, captures=True).run() for one in (on, off)]
    assert digest(worlds[0]) != digest(worlds[1])


@pytest.mark.parametrize("name", PATHS)
def test_another_algorithm_gives_other_packets(name: str) -> None:
    class Gentle(tl.Reno):
        def ssthresh(self, view: tl.View) -> int:
            return max(view.snd_cwnd * 3 // 4, 2)

    own = tl.World(text(name), seed=1, captures=True).run()
    other = tl.World(text(name), seed=1, captures=True, congestion=both(Gentle)).run()
    assert digest(own) != digest(other)


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


def test_an_exception_ends_the_run_and_is_raised_as_it_is() -> None:
    class Mistake(Exception):
        pass

    calls = []

    class Broken(tl.Reno):
        def on_ack(self, ack: tl.Ack) -> int | None:
            calls.append(ack.now_ns)
            if len(calls) == 20:
                raise Mistake("the twentieth ACK")
            return super().on_ack(ack)  # type: ignore[return-value]

    world = tl.World(text("loss"), seed=1, congestion={"client": Broken})
    with pytest.raises(Mistake, match="the twentieth ACK") as caught:
        world.run()
    where = traceback.extract_tb(caught.value.__traceback__)
    assert where[-1].name == "on_ack"
    assert where[-1].filename == __file__
    assert len(calls) == 20
    assert world.now_ns == calls[-1]
    assert not world.is_over
    with pytest.raises(RuntimeError, match="cannot go on"):
        world.run_until(1)


@pytest.mark.parametrize("method", ["__init__", "init", "ssthresh", "set_state", "cwnd_event", "pkts_acked"])
def test_each_method_may_fail(method: str) -> None:
    def fail(*_: object) -> None:
        raise KeyError(method)

    broken = type("Broken", (tl.Reno,), {method: fail, "name": "broken"})
    with pytest.raises(KeyError, match=method):
        tl.World(text("loss"), seed=1, congestion={"client": broken}).run()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ("12", TypeError, "on_ack returned 12: it must return a whole number"),
        (3.5, TypeError, "whole number of packets"),
        (0, ValueError, "on_ack returned 0 packets: a window has 1 to"),
        (2**31, ValueError, "a window has 1 to 1073741824"),
        (tl.Change(pacing_rate_bytes=1000), ValueError, "controls_cwnd = True"),
        (tl.Change(10, snd_ssthresh=-1), ValueError, "-1 packets"),
    ],
)
def test_answers_that_cannot_be(answer: object, error: type[Exception], message: str) -> None:
    class Wrong(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> object:  # type: ignore[override]
            return answer

    with pytest.raises(error, match=message):
        tl.World(text("loss"), seed=1, congestion={"client": Wrong}).run()


def test_one_that_controls_the_window_paces() -> None:
    class Paced(tl.CongestionControl):
        controls_cwnd = True

        def __init__(self) -> None:
            self.samples: list[float] = []

        def on_ack(self, ack: tl.Ack) -> tl.Change:
            if ack.rate_delivered and ack.rate_interval_us:
                self.samples.append(ack.rate_delivered * ack.mss / ack.rate_interval_us * 1e6)
            return tl.Change(30, pacing_rate_bytes=250_000)

    world = tl.World(
        links=[tl.Link(rate="20mbit", delay="10ms")],
        apps=[tl.App("bulk", bytes="2 MB")],
        congestion={"client": Paced},
    )
    assert world.run_until(3)
    info = world.connections[0].info()
    assert info is not None
    assert (info["tcpi_snd_cwnd"], info["tcpi_pacing_rate"]) == (30, 250_000)
    paced = world.connections[0].client.algorithm
    assert isinstance(paced, Paced)
    assert paced.samples[-1] == pytest.approx(250_000, rel=0.05)


def test_ecn_is_asked_for_by_one_that_needs_it() -> None:
    class Marked(tl.Reno):
        name = "marked"
        needs_ecn = True

    class Plain(tl.Reno):
        name = "plain"

    marks = []
    for algorithm in (Marked, Plain):
        plain = text("ecn").replace('"net.ipv4.tcp_ecn" = 1', '"net.ipv4.tcp_ecn" = 2')
        # A SYN that is ECT(0) itself is answered by those alone that need ECN too.
        world = tl.World(plain, seed=1, congestion=both(algorithm)).run()
        marks.append(world.counters("client")["TcpExtTCPDeliveredCE"])
    assert marks[0] > 0
    assert marks[1] == 0


def test_the_world_is_not_asked_in_a_callback() -> None:
    class Curious(tl.Reno):
        def on_ack(self, ack: tl.Ack) -> int | None:
            return world.now_ns

    world = tl.World(text("loss"), seed=1, congestion={"client": Curious})
    with pytest.raises(RuntimeError, match="between its steps"):
        world.run()


def test_other_threads_go_on_while_it_runs() -> None:
    world = tl.World(text("timeouts").replace("1 MB", "300 MB").replace("60s", "600s"), seed=1)
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
