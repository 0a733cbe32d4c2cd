"""Congestion controls written in Python."""

from __future__ import annotations

import signal
import traceback

import pytest
from paths import PATHS, SEEDS, both, digest, text

import tcplab as tl


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


@pytest.mark.parametrize("name", PATHS)
def test_the_same_ssthresh_in_a_derived_class_is_reno(name: str) -> None:
    class Same(tl.Reno):
        def ssthresh(self, view: tl.View) -> int:
            return max(view.snd_cwnd // 2, 2)

    for seed in SEEDS:
        own = tl.World(text(name), seed=seed, captures=True).run()
        assert digest(own) == digest(tl.World(text(name), seed=seed, captures=True, congestion=both(Same)).run()), f"seed {seed}"


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
        (True, TypeError, "returned True: it must return a whole number"),
        (2**70, ValueError, "a window has 1 to"),
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


def test_ecn_that_one_end_alone_needs_is_refused() -> None:
    """As Linux's tcp_ecn_create_request(): a SYN that is ECT(0) needs a listener that needs ECN."""

    class Needs(tl.Reno):
        needs_ecn = True

    class Tells(Needs):
        def on_ack(self, ack: tl.Ack) -> object:  # type: ignore[override]
            has.add(ack.has_ecn)
            return super().on_ack(ack)

    for server, wanted in ((tl.Reno, {False}), (Needs, {True})):
        has: set[bool] = set()
        tl.World(text("ecn"), seed=1, congestion={"client": Tells, "server": server}).run()
        assert has == wanted


class Lost(tl.CongestionControl):
    """A long outage: timeout after timeout."""

    def __init__(self) -> None:
        self.states: list[tuple[str, str, int, int]] = []

    def on_ack(self, ack: tl.Ack) -> int:
        return 20

    def ssthresh(self, view: tl.View) -> int:
        return 7

    def set_state(self, view: tl.View, state: str) -> None:  # type: ignore[override]
        self.states.append((view.ca_state, state, view.snd_cwnd, view.snd_ssthresh))


@pytest.mark.parametrize("controls", [False, True])
def test_a_timeout_sets_window_and_threshold(controls: bool) -> None:
    algorithm = type("Lost", (Lost,), {"controls_cwnd": controls})
    world = tl.World(
        links=[tl.Link(rate="10mbit", delay="20ms", outage=["300ms..3s"])],
        apps=[tl.App("bulk", bytes="1 MB")],
        congestion={"client": algorithm},
    )
    world.run_until(3)
    lost = world.connections[0].client.algorithm
    assert isinstance(lost, Lost)
    timeouts = [state for state in lost.states if state[1] == "Loss"]
    # One call for each timeout, with the window and the threshold that TCP has set.
    assert [state[0] for state in timeouts[1:3]] == ["Loss", "Loss"]
    assert {state[2:] for state in timeouts} == {(1, 7)}


def test_the_change_of_a_method_says_what_it_is() -> None:
    assert repr(tl.Change(10, pacing_rate_bytes=1000)) == "Change(snd_cwnd=10, pacing_rate_bytes=1000)"
    assert repr(tl.Change()) == "Change()"
    for arguments, message in (((-1,), "snd_cwnd=-1"), ((0,), "1 to 1073741824"), ((2**70,), "1 to 1073741824 packets")):
        with pytest.raises(ValueError, match=message):
            tl.Change(*arguments)
    with pytest.raises(ValueError, match="snd_ssthresh=-1"):
        tl.Change(10, snd_ssthresh=-1)
    for rate in (0, -5, 2**64):
        with pytest.raises(ValueError, match=f"pacing_rate_bytes={rate}"):
            tl.Change(pacing_rate_bytes=rate)
    for wrong in (True, 1.5, "10"):
        with pytest.raises(TypeError, match="a whole number of packets"):
            tl.Change(wrong)  # type: ignore[arg-type]


def test_a_flag_is_no_threshold() -> None:
    class Flag(tl.Reno):
        def ssthresh(self, view: tl.View) -> int:
            return True

    with pytest.raises(TypeError, match="ssthresh returned True: it must return a whole number"):
        tl.World(text("loss"), seed=1, congestion={"client": Flag}).run()


def test_ctrl_c_in_a_method_comes_through_unchanged() -> None:
    class Stopped(tl.Reno):
        def on_ack(self, ack: tl.Ack) -> object:  # type: ignore[override]
            signal.raise_signal(signal.SIGINT)
            return super().on_ack(ack)

    world = tl.World(text("loss"), seed=1, congestion={"client": Stopped})
    with pytest.raises(KeyboardInterrupt) as caught:
        world.run()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name != "run_until"
    assert not world.is_over
    with pytest.raises(RuntimeError, match=r"interrupted \(Ctrl-C\).*cannot go on"):
        world.run()


def test_the_world_is_not_asked_in_a_callback() -> None:
    class Curious(tl.Reno):
        def on_ack(self, ack: tl.Ack) -> int | None:
            return world.now_ns

    world = tl.World(text("loss"), seed=1, congestion={"client": Curious})
    with pytest.raises(RuntimeError, match="between its steps"):
        world.run()


def test_what_nobody_would_call_or_use_is_told() -> None:
    app = [tl.App("bulk", bytes="100 kB", reverse=True)]

    class Misspelt(tl.Reno):
        def sstresh(self, view: tl.View) -> int:
            return 2

    with pytest.raises(tl.UsageError, match="did you mean `ssthresh`"):
        tl.World(apps=app, congestion={"server": Misspelt}).run()
    with pytest.raises(tl.UsageError, match="names a built-in one"):
        tl.World(apps=app, congestion={"server": "bbr"})  # type: ignore[dict-item]
    with pytest.warns(UserWarning, match="give it to the host that sends"):
        tl.World(apps=app, congestion={"client": tl.Reno}).run()


def test_a_derived_class_has_its_own_name() -> None:
    class Gentle(tl.Reno):
        pass

    world = tl.World(links=[tl.Link(rate="10mbit")], apps=[tl.App("bulk", bytes="1 MB")], congestion={"client": Gentle})
    world.run_until(0.1)
    assert world.connections[0].client.congestion == "Gentle"
