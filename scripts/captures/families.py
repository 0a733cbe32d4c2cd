"""The experiments of the labelled corpus: each family draws scenarios and says what was true of a run.

A truth is a dictionary: `causes` (finding ids that must be found), `allowed` (true as well, or a matter of words:
neither counted as hit nor as false), `one_of` (lists of ids of which at least one must be found). It is made from what
was configured and from the kernels' counters; a run that did not do what it was meant to do gives None and is left out.
"""

from dataclasses import dataclass, field
from typing import Callable

VIRTUAL = ["uml-6.1-hz1000", "uml-6.1-hz250", "uml-6.1-hz100"]
OLD = [k + "-old" for k in VIRTUAL]
RTTS = [0, 0.2, 1, 2, 5, 10, 20, 30, 40, 42, 45, 50, 80, 100, 150, 200]
STALL_IDS = {"rto_stall", "tail_loss", "black_hole"}  # what a receiver's capture need not show


@dataclass
class Case:
    """One experiment."""

    family: str
    scenario: list
    truth: Callable  # (Seen) -> dict or None
    sender: str = "b"  # the host that sends the data in question
    kernel: str = ""
    params: dict = field(default_factory=dict)
    post: str = ""  # what is done to the capture afterwards, see corpus.py
    points: tuple = ("a", "b")


class Seen:
    """A run's counters and link record, from the data sender's point of view."""

    def __init__(self, raw, sender):
        self.raw, self.sender, self.receiver = raw, sender, "ab"["ba".index(sender)]
        self.dir = "ab" if sender == "a" else "ba"

    def count(self, host, name):
        return self.raw["counters"][host].get(name, 0)

    def s(self, name):
        """A TcpExt counter of the data sender."""
        return self.count(self.sender, "TcpExt" + name)

    def r(self, name):
        """A TcpExt counter of the data receiver."""
        return self.count(self.receiver, "TcpExt" + name)

    @property
    def retrans(self):
        return sum(self.count(h, "TcpRetransSegs") for h in "ab")

    @property
    def timeouts(self):
        """Retransmission timeouts of data, both hosts."""
        return sum(max(0, self.count(h, "TcpExtTCPTimeouts") - self.count(h, "TcpExtTCPSynRetrans")) for h in "ab")

    def drops(self, direction=None):
        return [h for h in self.raw["happenings"] if h[2] == "drop" and direction in (None, h[1])]

    @property
    def quiet(self):
        """Nothing was lost or sent twice."""
        return not self.retrans and not self.drops()


def truth(causes=(), allowed=(), one_of=(), only_at_sender=(), allowed_behind=()):
    """only_at_sender: causes that captures elsewhere need not show; allowed_behind: allowed in captures elsewhere."""
    return {"causes": sorted(causes), "allowed": sorted(set(allowed) - set(causes)), "one_of": [sorted(x) for x in one_of],
            "only_at_sender": sorted(only_at_sender), "allowed_behind": sorted(allowed_behind)}


NOTHING = truth()


def nothing_if_quiet(seen):
    return NOTHING if seen.quiet else None


def nothing_if_unharmed(seen):
    """Nothing lost, nothing held; tail loss probes that were not needed (a delayed ACK was on its way) may be there."""
    needless = sum(seen.count(h, "TcpExtTCPLossProbes") for h in "ab")
    return NOTHING if not seen.drops() and not seen.timeouts and seen.retrans <= needless else None


def other(side):
    return "b" if side == "a" else "a"


def toward(side):
    """The direction of what `side` sends."""
    return "ab" if side == "a" else "ba"


def path(rng, params, rtt=None, jitter=False):
    """Delay lines, and jitter that keeps the order."""
    rtt = rng.choice(RTTS) if rtt is None else rtt
    share = rng.choice([0.5, 0.5, 0.5, 0.2, 0.8])
    lines = [f"delay_ab={int(rtt * 1000 * share)}", f"delay_ba={int(rtt * 1000 * (1 - share))}"]
    params["rtt_ms"] = rtt
    if jitter:
        j = rng.choice([0.1, 0.5, 2, 5])
        params["jitter_ms"] = j
        lines += [f"jitter_ab={int(j * 1000)}", f"jitter_ba={int(j * 1000)}"]
    return lines


def bottleneck(params, direction, mbit, packets):
    params.update(rate_mbit=mbit, queue_packets=packets)
    return [f"rate_{direction}={int(mbit * 1000)}", f"queue_{direction}={packets}"]


def sometimes(rng, params):
    """Options that must not change a verdict: IPv6, no time stamps, no SACK."""
    lines = []
    if rng.random() < 0.15:
        lines.append("ipv6=1")
        params["ipv6"] = True
    if rng.random() < 0.12:
        lines.append("sysctl_a=net.ipv4.tcp_timestamps 0")
        params["timestamps"] = False
    if rng.random() < 0.05:
        lines.append("sysctl_b=net.ipv4.tcp_sack 0")
        params["sack"] = False
    return lines


# ---- delayed ACKs -------------------------------------------------------------------------------------------------

def stream(rng, size, interval, n, nodelay, params, sender=None):
    s = sender or rng.choice("ab")
    params.update(workload="stream", write_size=size, interval_ms=interval, writes=n, nagle=not nodelay)
    end = rng.choice(["c", "s300000 c", "s2000000 c"])
    return s, [f"{s}_script=(p{int(interval * 1000)} w{size})*{n} {end}", f"{other(s)}_script=d c", f"{s}_nodelay={int(nodelay)}"]


def quickack_truth(n, nagle_acts):
    def judge(seen):
        if not seen.quiet:
            return None
        late = seen.r("DelayedACKs")
        if late >= max(5, 0.4 * (n - 17)):
            if nagle_acts:  # the late ACK holds the next write as well, and writes meet
                return truth(one_of=[["quickack_exhausted", "delack_nagle"]])
            return truth(["quickack_exhausted"])
        return NOTHING if late <= 1 else truth(allowed=["quickack_exhausted"])
    return judge


def quickack(rng):
    p = {}
    rtt = rng.choice([0, 0, 0.2, 1, 5, 10, 20, 50, 80, 100, 150, 200])
    size, n = rng.choice([600, 700, 900, 1000, 1000, 1024, 1024, 1100, 1200, 1300, 1400, 1448]), rng.randint(35, 110)
    nodelay = rng.random() < 0.5
    low = 56 if nodelay else 62 + rtt
    interval = rng.choice([x for x in (60, 70, 80, 100, 100, 120, 150, 190, 250, 300, 400) if x >= low and x < 190 + rtt])
    s, lines = stream(rng, size, interval, n, nodelay, p)
    mtu = rng.choice([0] * 8 + [1280, 1492, 4000, 9000])
    if mtu and mtu >= size + 60:
        lines.append(f"mtu={mtu}")
        p["mtu"] = mtu
    return Case("quickack", [*lines, *path(rng, p, rtt, rng.random() < 0.2), *sometimes(rng, p)], quickack_truth(n, not nodelay and interval < 2 * rtt + 70), s, rng.choice(OLD), p)


def quickack_fixed(rng):
    c = quickack(rng)
    c.family, c.kernel = "quickack-fixed", rng.choice(VIRTUAL)
    c.truth = lambda seen: NOTHING if seen.quiet and seen.r("DelayedACKs") <= 1 else None
    return c


def quickack_not(rng):
    """Kernels before the fix that have no reason to run out of quick ACKs, or whose host was told to stay quick."""
    p, n = {}, rng.randint(30, 90)
    how = rng.choice(["slow", "slow", "slow", "small", "route", "each", "fast", "multiple", "echo"])
    rtt = rng.choice(RTTS)
    size, interval, nodelay, extra = 1024, rng.choice([60, 100, 150]) + rtt, rng.random() < 0.5, []
    s = rng.choice("ab")
    if how == "slow":  # further apart than the receiver's RTO: the credits come back each time
        interval, n = rng.choice([280, 300, 350, 400, 500, 600, 1000]) + 3 * rtt, rng.randint(25, 60)
        size = rng.choice([700, 1000, 1024, 1448])
    elif how == "small":
        size = rng.choice([64, 100, 200, 400, 500])
    elif how == "route":
        extra = [f"route_quickack_{other(s)}=1"]
    elif how == "each":
        extra = [f"{other(s)}_quickack_each=1"]
    elif how == "fast":
        interval, nodelay = rng.choice([5, 10, 15, 20, 30]), True
    elif how == "multiple":
        size = rng.choice([2896, 4344, 5000, 3000])
    p["how"] = how
    s, lines = stream(rng, size, interval, n, nodelay, p, s)
    if how == "echo":
        lines = [f"{s}_script=(p{int(interval * 1000)} w{size} r10)*{n} c", f"{other(s)}_script=(r{size} w10)*{n} d c"]
        p["workload"] = "echo"

    def judge(seen):
        if not seen.quiet:
            return None
        few = seen.r("DelayedACKs") <= (n // 5 if how in ("fast", "multiple") else 2)
        return NOTHING if few else None
    return Case("quickack-not", [*lines, *extra, *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(OLD), p)


def delack_policy(rng):
    """One-way writes to a receiver that is told to delay each ACK: late from the first on, and nobody waits for them."""
    p, n = {}, rng.randint(25, 60)
    s, lines = stream(rng, rng.choice([100, 500, 1000, 1024, 1448]), rng.choice([80, 100, 150]), n, True, p)
    lines.append(f"{other(s)}_quickack_each=0")
    p["quickack"] = "TCP_QUICKACK 0 before each read"
    return Case("delack-policy", [*lines, *path(rng, p), *sometimes(rng, p)], nothing_if_quiet, s, rng.choice(VIRTUAL + OLD), p)


def reader_sleeps(rng):
    """The application reads seldom: the timer sends the ACKs, on a kernel with the fix."""
    p, n = {}, rng.randint(20, 50)
    s, lines = stream(rng, rng.choice([300, 1000, 1024]), 100, n, True, p)
    lines[1] = f"{other(s)}_script=(s250000 u100000)*{n} d c"
    p["reader"] = "one read each 250 ms"

    def judge(seen):
        # Out of credits it is, only that the fix cannot help: a capture does not show why nobody reads.
        return truth(allowed=["quickack_exhausted"] if seen.r("DelayedACKs") >= 3 else []) if seen.quiet else None
    return Case("reader-sleeps", [*lines, *path(rng, p)], judge, s, rng.choice(VIRTUAL), p)


def path_change(rng):
    """The path becomes 20 to 80 ms longer in the middle of a stream of writes: late ACKs that no timer sent."""
    p, n = {}, rng.randint(60, 110)
    s, lines = stream(rng, rng.choice([600, 1000, 1024, 1448]), rng.choice([100, 120, 150]), n, True, p)
    at, more, where = rng.randint(25, 50), rng.choice([20, 38, 40, 41, 42, 45, 60, 80]), rng.choice(["ab", "ba"])
    p["longer"] = f"from data segment {at} on by {more} ms, {where}"
    kind = "data" if where == toward(s) else "ack"
    lines += [f"rule={where} {kind} n={at} k=1000000 delay={more * 1000}", *path(rng, p, rng.choice([0, 0.2, 1, 5, 20]), rng.random() < 0.5)]

    def judge(seen):
        # Before the longer part, 40 ms of path and 40 ms of timer look the same.
        same = {"allowed": ["quickack_exhausted"]} if 38 <= more <= 45 else {}
        return {**NOTHING, **same, "not_at_receiver": True} if seen.quiet and seen.r("DelayedACKs") <= 1 else None
    return Case("path-change", lines, judge, s, rng.choice(VIRTUAL), p)


def wild_jitter(rng):
    """ACKs come late by chance, not by a timer."""
    p, n = {}, rng.randint(40, 100)
    s, lines = stream(rng, rng.choice([200, 1000, 1024]), rng.choice([100, 150]), n, True, p)
    p["jitter_ms"] = rng.choice([20, 40, 60])
    lines += [*path(rng, p, rng.choice([0.2, 5, 20, 50])), f"jitter_{toward(other(s))}={p['jitter_ms'] * 1000}"]
    if rng.random() < 0.5:
        lines.append(f"jitter_{toward(s)}={p['jitter_ms'] * 1000}")

    def judge(seen):
        return NOTHING if not seen.drops() and not seen.timeouts and not seen.s("TCPFastRetrans") and seen.r("DelayedACKs") <= 1 else None
    return Case("wild-jitter", lines, judge, s, rng.choice(VIRTUAL), p)


def app_pause(rng):
    """Two writes and a read as in write-write-read, but the application itself pauses between the writes."""
    p, n = {}, rng.randint(10, 30)
    rtt = rng.choice(RTTS)
    nodelay = rng.random() < 0.5
    pause = rng.choice([20, 30, 60, 100]) if nodelay else rng.choice([70, 100, 150]) + int(rtt) + (50 if rtt > 40 else 0)
    head, body, reply = rng.choice([50, 200, 500]), rng.choice([50, 300, 800]), rng.choice([20, 600, 1400])
    p.update(workload="write, pause, write, read", pause_between_ms=pause, nagle=not nodelay, requests=n)
    lines = [f"a_script=(w{head} s{pause * 1000} w{body} r{reply} s30000)*{n} c", f"b_script=(r{head + body} w{reply})*{n} d c", f"a_nodelay={int(nodelay)}"]
    return Case("app-pause", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], nothing_if_unharmed, "a", rng.choice(VIRTUAL + OLD), p)


def wwr_parts(rng, p):
    head, body, reply = rng.choice([16, 64, 100, 200, 400, 512]), rng.choice([32, 100, 300, 512, 800]), rng.choice([20, 100, 600, 1400, 4000])
    n, pause, think = rng.randint(8, 40), rng.choice([0, 2, 10, 30, 50, 100, 300]), rng.choice([0, 0, 1, 5])
    p.update(workload="write-write-read", head=head, body=body, reply=reply, requests=n, pause_ms=pause, think_ms=think)
    return head, body, reply, n, pause, think


def wwr_lines(head, body, reply, n, pause, think, single=False):
    write = f"w{head + body}" if single else f"w{head} w{body}"
    sleep = f" s{pause * 1000}" if pause else ""
    work = f" s{think * 1000}" if think else ""
    return [f"a_script=({write} r{reply}{sleep})*{n} c", f"b_script=(r{head + body}{work} w{reply})*{n} d c"]


def wwr(rng):
    p = {}
    parts = wwr_parts(rng, p)
    n = parts[3]

    def judge(seen):
        late = seen.count("b", "TcpExtDelayedACKs")
        if not seen.quiet:
            return None
        if late >= max(3, 0.4 * n):
            return truth(["delack_nagle"], ["delack_request_response"])
        return NOTHING if late == 0 else truth(allowed=["delack_nagle", "delack_request_response"])
    return Case("write-write-read", [*wwr_lines(*parts), *path(rng, p), *sometimes(rng, p)], judge, "a", rng.choice(VIRTUAL + OLD), p)


def wwr_cured(rng):
    """The same exchange with one of the remedies, or over a path where it does not matter: nothing is held by a timer."""
    p = {}
    parts = wwr_parts(rng, p)
    how = rng.choice(["nodelay", "nodelay", "single", "each", "route"])
    p["how"] = how
    lines = wwr_lines(*parts, single=how == "single")
    lines += {"nodelay": ["a_nodelay=1", "b_nodelay=1"], "single": [], "each": ["b_quickack_each=1", "a_quickack_each=1"],
              "route": ["route_quickack_b=1", "route_quickack_a=1"]}[how]

    def judge(seen):
        if not seen.quiet:
            return None
        if how in ("each", "route") and seen.count("b", "TcpExtDelayedACKs") + seen.count("a", "TcpExtDelayedACKs"):
            return None
        return NOTHING
    return Case("write-write-read-cured", [*lines, *path(rng, p), *sometimes(rng, p)], judge, "a", rng.choice(VIRTUAL + OLD), p)


def response_in_two(rng):
    """The server writes its answer in two pieces; Nagle holds the second while the client delays its ACK."""
    p, n = {}, rng.randint(15, 40)
    one, two, pause = rng.choice([50, 100, 300]), rng.choice([100, 500, 900]), rng.choice([1, 5, 10, 20])
    p.update(workload="response in two writes", head=one, body=two, requests=n, pause_ms=pause)
    lines = [f"a_script=(w80 r{one + two} s{pause * 1000})*{n} c", f"b_script=(r80 w{one} w{two})*{n} d c"]

    def judge(seen):
        late = seen.count("a", "TcpExtDelayedACKs")
        if not seen.quiet:
            return None
        ids = ["delack_nagle", "delack_request_response"]
        return truth(one_of=[ids], allowed=ids) if late >= max(4, 0.4 * n) else truth(allowed=ids) if late else NOTHING
    return Case("response-in-two", [*lines, *path(rng, p), *sometimes(rng, p)], judge, "b", rng.choice(VIRTUAL + OLD), p)


def cwnd_held(rng):
    """A request or response that the congestion window cuts in two: the rest waits for the ACK of a peer that delays it."""
    p, n = {}, rng.randint(10, 25)
    size, reply, pause = rng.choice([1600, 2000, 2500, 3200, 3500, 4500]), rng.choice([20, 200, 900]), rng.choice([400, 500, 700])
    rtt = rng.choice([0, 0.2, 1, 2, 5, 10, 20])
    s = rng.choice("ab")
    p.update(workload="request/response", write_size=size, requests=n, pause_ms=pause, nagle=False, initcwnd=1, quickack="TCP_QUICKACK 0 before each read")
    ask, answer = (size, reply) if s == "a" else (reply, size)
    lines = [f"a_script=(w{ask} r{answer} s{pause * 1000})*{n} c", f"b_script=(r{ask} w{answer})*{n} d c", f"{s}_nodelay=1", f"{other(s)}_quickack_each=0",
             f"route_initcwnd_{s}=1"]

    def judge(seen):
        late = seen.r("DelayedACKs")
        if not seen.quiet:
            return None
        if late < max(3, 0.4 * n):
            return truth(allowed=["delack_request_response", "delack_nagle"]) if late else NOTHING
        if size < 2 * 1448:  # a full segment and a rest: the classic Nagle rule would look the same on the wire
            return truth(one_of=[["delack_request_response", "delack_nagle"]])
        return truth(["delack_request_response"])
    return Case("cwnd-held", [*lines, *path(rng, p, rtt)], judge, s, rng.choice(VIRTUAL + OLD), p)


def request_response(rng):
    """Nothing is held, though the ACKs of the last response are often late: no one waits for them."""
    p, n = {}, rng.randint(15, 60)
    ask, reply = rng.choice([20, 100, 500, 1400, 3000]), rng.choice([1, 100, 700, 1448, 5000, 20000])
    pause, think = rng.choice([0, 5, 20, 39, 45, 60, 100, 250, 500]), rng.choice([0, 1, 10, 38, 40, 41, 45, 60, 120, 300])
    p.update(workload="request/response", write_size=ask, reply=reply, requests=n, pause_ms=pause, think_ms=think)
    sleep = rng.choice([f" s{pause * 1000}", f" j{pause * 1000}"]) if pause else ""
    work = f" s{think * 1000}" if think else ""
    lines = [f"a_script=(w{ask} r{reply}{sleep})*{n} c", f"b_script=(r{ask}{work} w{reply})*{n} d c", f"a_nodelay={rng.randint(0, 1)}", f"b_nodelay={rng.randint(0, 1)}"]
    return Case("request-response", [*lines, *path(rng, p, None, rng.random() < 0.3), *sometimes(rng, p)], nothing_if_unharmed, "b", rng.choice(VIRTUAL + OLD), p)
