"""One experiment of the campaign, what its kernels said, and how a truth is written.

A truth is made from what was configured, the kernels' counters, tcp_info's own times (busy, limited by the receiver's
window, by the send buffer), the link's record and the times of the applications' steps; never from packets. Its kinds of
trouble are those of `ids.ACCEPT`. `causes`: kind -> capture points at which the packets must show it (`a` client, `b`
server, `m` between); elsewhere it is allowed. `one_of`: [kinds, points], any of them answers. `allowed`: true as well, or a
matter of words. `budget`: class -> seconds that belong to it at least.
"""

import re
from dataclasses import dataclass, field
from typing import Callable

KERNELS = ["uml-6.1-hz250", "uml-6.1-hz250", "uml-6.1-hz1000"]
OLD = "uml-6.1-hz250-old"
POINTS = "abm"
LOSSES = {"random_loss", "congestion_loss", "ack_loss"}


@dataclass
class Case:
    """One experiment: lines of the capture laboratory's scenario, or an experiment file of `tcplab run`."""

    kind: str
    lines: list
    judge: Callable  # (Seen) -> truth, or a text that says why the run is left out
    sender: str = "b"
    kernel: str = ""
    params: dict = field(default_factory=dict)
    toml: str = ""  # instead of lines
    post: tuple = ()  # what is done to the captures: ("step", seconds, share)


def other(side):
    return "b" if side == "a" else "a"


def toward(side):
    """The direction of what a side sends."""
    return "ab" if side == "a" else "ba"


def must(*names, at=POINTS):
    return {name: at for name in names}


def truth(causes=None, allowed=(), one_of=(), budget=None, never=()):
    """`never`: what the counters alone would allow, and what was configured rules out."""
    return {"never": sorted(never), "causes": dict(causes or {}), "allowed": sorted(allowed), "one_of": [list(x) for x in one_of], "budget": dict(budget or {})}


class Seen:
    """What a run's kernels, link and applications said."""

    def __init__(self, raw, case):
        self.raw, self.case, self.sender, self.receiver = raw, case, case.sender, other(case.sender)
        self.dir = toward(case.sender)

    def count(self, host, name):
        c = self.raw["counters"][host]
        return c.get(name, c.get("TcpExt" + name, 0))

    def s(self, name):
        return self.count(self.sender, name)

    def r(self, name):
        return self.count(self.receiver, name)

    def both(self, name):
        return self.count("a", name) + self.count("b", name)

    @property
    def retrans(self):
        return self.both("TcpRetransSegs")

    def timeouts(self, host=None):
        """Retransmission timeouts of data."""
        return sum(max(0, self.count(h, "TCPTimeouts") - self.count(h, "TCPSynRetrans")) for h in ("ab" if host is None else host))

    def done(self, what, direction=None):
        """What the link did to packets: [seconds, direction, action, connection, sequence number, bytes, flags]."""
        return [h for h in self.raw["happenings"] if h[2] == what and direction in (None, h[1])]

    def drops(self, direction=None):
        return self.done("drop", direction)

    @property
    def quiet(self):
        """Nothing was lost, doubled or sent twice."""
        return not self.retrans and not self.drops()

    def info(self, side, name, conn=0):
        return self.raw["connections"][conn][side].get(name, 0)

    def share(self, name, side=None):
        """Part of the sender's busy time in which it was limited by `rwnd` or `sndbuf`: the kernel's own clock."""
        side = side or self.sender
        busy = self.info(side, "busy_us")
        return self.info(side, name + "_limited_us") / busy if busy else 0.0

    def seconds(self, name, side=None):
        return self.info(side or self.sender, name + "_limited_us") / 1e6

    def steps(self, side, conn=0):
        return self.raw["connections"][conn][side].get("steps", [])

    def finished(self):
        return all(c[s]["done"] and not c[s]["error"] for c in self.raw["connections"] for s in "ab")

    def slept(self, side, conn=0, last=False):
        """Seconds that an application paused after it had read and before it wrote; `last`: also before it closed."""
        steps, out = self.steps(side, conn), 0.0
        for i, (op, _, begin, end) in enumerate(steps):
            if op in "sj" and (last or any(x[0] == "w" for x in steps[i + 1:i + 2])):
                out += end - begin
        return out

    def pauses(self, side, conn=0):
        """The single pauses of an application."""
        return [end - begin for op, _, begin, end in self.steps(side, conn) if op in "sjp"]

    def exchanges(self, side="a", conn=0):
        """Seconds of each exchange: from a side's first write after a read (or the start) to the end of its next read."""
        out, begin = [], None
        for op, _, start, end in self.steps(side, conn):
            if op == "w" and begin is None:
                begin = start
            elif op == "r" and begin is not None:
                out.append(end - begin)
                begin = None
        return out

    def handshake(self, conn=0):
        a = self.raw["connections"][conn]["a"]
        return a["opened"] - a["began"] if a["opened"] >= 0 else 0.0


def path(rng, p, rtt, jitter=0.0):
    """Delays of both ways, and jitter that keeps the order (milliseconds)."""
    share = rng.choice([0.5, 0.5, 0.3, 0.7])
    p["rtt_ms"] = rtt
    lines = [f"delay_ab={int(rtt * 1000 * share)}", f"delay_ba={int(rtt * 1000 * (1 - share))}"]
    if jitter:
        p["jitter_ms"] = jitter
        lines += [f"jitter_ab={int(jitter * 1000)}", f"jitter_ba={int(jitter * 1000)}"]
    return lines


def rate(p, direction, mbit, packets=2000):
    p.update(mbit=mbit, queue=packets)
    return [f"rate_{direction}={int(mbit * 1000)}", f"queue_{direction}={packets}"]


def sometimes(rng, p, timestamps=True):
    """Settings that change no truth."""
    lines = []
    if rng.random() < 0.15:
        lines.append("ipv6=1")
        p["ipv6"] = True
    if timestamps and rng.random() < 0.15:
        lines.append("sysctl_a=net.ipv4.tcp_timestamps 0")
        p["timestamps"] = False
    return lines


def also(seen, t):
    """Adds what a run's counters say was true besides: allowed, never asked for."""
    more = set()
    never = set(t.pop("never", ()))
    if seen.both("TCPLossProbes"):
        more |= {"tail_loss"}
    if seen.timeouts():
        more |= {"rto", "tail_loss"}
        if not seen.drops():  # nothing was lost either way: the answer was late, whoever was gone when its DSACK came
            more |= {"spurious_rto"}
    if seen.both("TCPSynRetrans"):
        more |= {"syn_retries"}
    if seen.drops():
        more |= LOSSES | {"tail_loss"}
        if seen.both("DelayedACKs"):  # a window that losses made small waits for them
            more |= {"delack_request_response"}
    if seen.both("TCPDSACKRecv") or seen.both("TCPSpuriousRTOs") or seen.both("TCPLossUndo") or seen.both("TCPFullUndo") or seen.both("TCPTSReorder"):
        more |= {"spurious_fast", "reordering", "spurious_rto", "duplication", "ack_loss"}
    if any(re.match(r"sysctl_b=net.ipv4.tcp_(window_scaling|sack|timestamps) 0", x) for x in seen.case.lines):
        more |= {"option_removed"}
    if any(x.startswith("mtu=") and int(x[4:]) < 1280 for x in seen.case.lines):
        more |= {"small_mss"}
    if seen.both("TCPToZeroWindowAdv"):
        more |= {"zero_window", "receive_window"}
    for side in "ab":
        if seen.share("rwnd", side) > 0.15 and seen.info(side, "rwnd_limited_us") > 20000:
            more |= {"receive_window", "window_scaling"}
        if seen.share("sndbuf", side) > 0.15 and seen.info(side, "sndbuf_limited_us") > 20000:
            more |= {"send_buffer"}
    base = max(seen.info("a", "min_rtt_us"), seen.info("b", "min_rtt_us")) / 1e6
    wait = max(seen.raw.get(d, {}).get("longest_wait", 0) for d in ("ab", "ba"))
    if wait > max(0.05, 1.5 * min(base, 1.0)):
        more |= {"bufferbloat"}
    for n in range(len(seen.raw["connections"])):
        if any(x > 0.01 for x in seen.pauses("b", n)):
            more |= {"slow_server"}
        if any(x > 0.01 for x in seen.pauses("a", n)):
            more |= {"slow_client"}
    wrote = max((c[s]["wrote"] for c in seen.raw["connections"] for s in "ab"), default=0)
    if wrote > 14 * 1448 and base > 0.02 and (n_round_trips(wrote) * base > 0.1):
        more |= {"slow_start"}
    if any(x > 0.2 for c in range(len(seen.raw["connections"])) for s in "ab" for x in seen.pauses(s, c)) and base > 0.005 and wrote > 28 * 1448:
        more |= {"window_after_idle"}
    t["none"] = absent(seen)
    t["allowed"] = sorted((set(t["allowed"]) | more) - set(t["causes"]) - never)
    return t


def absent(seen):
    """Classes of the time budget to which nothing of this run can belong."""
    out = set()
    logged = [len(c[s].get("steps", [])) for c in seen.raw["connections"] for s in "ab"]
    for side, name in (("b", "server_thinks"), ("a", "client_thinks")):
        # Connections that were not accepted have no steps, and `tcplab run` logs no pauses.
        # A server that accepts late thinks, too, and one that never answers.
        late = side == "b" and (seen.case.kind == "no-answer" or any(x.startswith("accept_after=") for x in seen.case.lines))
        if "start" in seen.raw and all(logged) and not late and not any(x > 0.0005 for n in range(len(seen.raw["connections"])) for x in seen.pauses(side, n)):
            out.add(name)
    if not seen.both("DelayedACKs"):
        out |= {"delayed_ack", "nagle"}
    if not seen.retrans and not seen.drops():
        out |= {"rto", "fast_recovery", "spurious"} | (set() if seen.both("TCPLossProbes") else {"tlp"})  # a probe may be new data
    if not seen.both("TCPToZeroWindowAdv") and not seen.both("TCPWantZeroWindowAdv"):
        out |= {"zero_window"}
    if not any(c[s].get("rwnd_limited_us") for c in seen.raw["connections"] for s in "ab"):
        out |= {"receive_window"}
    return sorted(out)


def n_round_trips(size, first=10 * 1448):
    """Round trips that slow start needs for so many bytes."""
    n, sent = 0, 0
    while sent < size:
        sent += first << n
        n += 1
    return n
