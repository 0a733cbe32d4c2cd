"""Kinds of trouble on the path: losses, queues, order, delay; and captures whose clock steps."""

from case import KERNELS, LOSSES, POINTS, Case, must, other, path, rate, sometimes, toward, truth

RTTS = [1, 5, 10, 20, 40, 80, 120]


def bulk(rng, p, size=None, wait=False):
    s = rng.choice("abb")
    size = size or rng.choice([200, 400, 800]) * 1000
    p.update(bytes=size, sender=s)
    return s, size, [f"{s}_script=w{size}{' s1500000' if wait else ''} c", f"{other(s)}_script=d c", "steps=1"]


def before(s, after=""):
    """The capture points that see what was lost later."""
    return s + ("m" if after else "")


def rto_causes(seen, at):
    return {"rto": at} if seen.timeouts(seen.sender) else {}


def random_loss(rng):
    p, after = {}, rng.choice(["", " after"])
    s, _, lines = bulk(rng, p, rng.choice([400, 800, 1500]) * 1000)
    ppm = rng.choice([10000, 20000, 40000])
    p["loss"] = f"{ppm / 10000} %"
    lines += [f"rule={toward(s)} data p={ppm}{after} drop", *(["sysctl_a=net.ipv4.tcp_sack 0"] if rng.random() < 0.15 else [])]

    def judge(seen):
        if len(seen.drops()) < 4 or not seen.finished():
            return "too few losses"
        return truth({**must("random_loss"), **rto_causes(seen, before(s, after))}, ["tail_loss"], never=["congestion_loss"])
    return Case("random-loss", [*lines, *rate(p, toward(s), rng.choice([20, 50, 100])), *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def congestion_loss(rng):
    """A short queue that overflows."""
    p = {}
    mbit = rng.choice([5, 10, 20])
    s, _, lines = bulk(rng, p, mbit * 200000)
    rtt, queue = rng.choice([10, 20, 40, 80]), rng.choice([10, 20, 40])

    def judge(seen):
        if seen.raw[seen.dir]["queue_drops"] < 4 or not seen.finished():
            return "too few losses"
        return truth({**must("congestion_loss"), **rto_causes(seen, s)}, ["tail_loss", "policer"] if queue < 20 else ["tail_loss"], never=["random_loss"])
    return Case("congestion-loss", [*lines, *rate(p, toward(s), mbit, queue), *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def bufferbloat(rng):
    """A deep queue that fills."""
    p, mbit, rtt = {}, rng.choice([2, 4, 8]), rng.choice([10, 20, 40])
    s, _, lines = bulk(rng, p, mbit * rng.choice([300000, 500000]))

    def judge(seen):
        wait = seen.raw[seen.dir]["longest_wait"]
        if not seen.finished() or wait < max(0.15, 4 * rtt / 1000):
            return "the queue stayed short"
        return truth({"bufferbloat": s}, ["receive_window", "congestion_loss", "random_loss"])
    return Case("bufferbloat", [*lines, *rate(p, toward(s), mbit, 3000), *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def policer(rng):
    """A token bucket that drops, without a queue."""
    p, mbit, burst = {}, rng.choice([2, 4, 8]), rng.choice([15, 30, 60]) * 1000
    s, _, lines = bulk(rng, p, mbit * 250000)
    p.update(policed_mbit=mbit, burst=burst)
    lines += [f"police_{toward(s)}={mbit * 1000}", f"burst_{toward(s)}={burst}"]

    def judge(seen):
        if seen.raw[seen.dir]["policed"] < 8 or not seen.finished():
            return "too few losses"
        return truth({"policer": POINTS, **rto_causes(seen, s)}, ["congestion_loss", "tail_loss"], never=["random_loss"])
    return Case("policer", [*lines, *path(rng, p, rng.choice([5, 10, 20, 40])), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def tail(rng):
    """The end of an answer is lost."""
    p, n, after = {}, rng.randint(4, 10), rng.choice(["", " after"])
    segments, lost = rng.randint(4, 20), rng.choice([1, 1, 2, 3])
    reply, which = segments * 1448, rng.randint(1, n - 1)
    end = (which + 1) * reply
    p["loss"] = f"the last {lost} segments of answer {which + 1}"
    lines = [f"a_script=(w200 r{reply} s{rng.choice([20, 100]) * 1000})*{n} c", f"b_script=(r200 w{reply})*{n} d c", "steps=1",
             f"rule=ba data seq={end - lost * 1448}-{end} m={lost}{after} drop"]

    def judge(seen):
        if len(seen.drops()) != lost or not (seen.s("TCPLossProbes") or seen.timeouts()) or not seen.finished():
            return "not a tail"
        times = seen.exchanges("a")
        cost = max(times) - sorted(times)[len(times) // 2]
        return truth({"tail_loss": before("b", after), **rto_causes(seen, before("b", after))}, ["tail_loss", "rto"], never=["congestion_loss"], budget={"recovery@b": max(0.0, cost - 0.02)})
    return Case("tail-loss", [*lines, *path(rng, p, rng.choice([1, 5, 20, 50, 100])), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def lone(rng):
    """A request of one segment is lost: only the timer can help."""
    p, n, after = {}, rng.randint(6, 15), rng.choice(["", " after"])
    which = sorted(rng.sample(range(3, n + 1), rng.choice([1, 2])))
    lines = [f"a_script=(w200 r500 s50000)*{n} c", f"b_script=(r200 w500)*{n} d c", "steps=1", *[f"rule=ab data seq={200 * (w - 1)}-{200 * w} m=1{after} drop" for w in which]]

    def judge(seen):
        if len(seen.drops()) != len(which) or not seen.finished():
            return "not lost"
        times = seen.exchanges("a")
        cost = sum(times) - len(times) * sorted(times)[len(times) // 2]
        return truth({}, ["rto", "tail_loss", "spurious_rto"], never=["congestion_loss"], one_of=[[["rto", "tail_loss"], before("a", after)]], budget={"rto@a": max(0.0, cost - 0.005)})
    return Case("lone-request-lost", [*lines, *path(rng, p, rng.choice([1, 5, 20, 50])), *sometimes(rng, p)], judge, "a", rng.choice(KERNELS), p)


def outage(rng):
    """For a while nothing gets through the data's way."""
    p, after = {}, rng.choice(["", " after"])
    s, _, lines = bulk(rng, p, 1000000)
    rtt = rng.choice(RTTS)
    start, length = int(4 * rtt + rng.randint(60, 200)), rng.choice([400, 800, 1500, 3000])
    sack = rng.random() < 0.2
    p["outage_ms"] = [start, start + length]
    lines += [f"rule={toward(s)} packet t={start * 1000}-{(start + length) * 1000}{after} drop", *(["sysctl_a=net.ipv4.tcp_sack 0"] if sack else [])]

    def judge(seen):
        if not seen.timeouts(s) or len(seen.drops()) < 3 or not seen.finished():
            return "no timeout"
        return truth({"rto": before(s, after)}, ["tail_loss", "black_hole"], budget={f"rto@{s}": max(0.0, (length - 2 * rtt - 30) / 1000 - seen.raw[seen.dir]["longest_wait"])})
    return Case("outage", [*lines, *rate(p, toward(s), 10), *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def spike(rng):
    """The path stands still for longer than the timeout, and loses nothing; often without time stamps."""
    p = {}
    s, _, lines = bulk(rng, p, 1000000)
    rtt, stamps = rng.choice(RTTS), rng.random() < 0.5
    start, length = int(4 * rtt + rng.randint(100, 200)), rng.choice([400, 600, 900]) + int(2 * rtt)
    p.update(stands_still_ms=[start, start + length], timestamps=stamps)
    lines += [f"rule={toward(s)} packet t={start * 1000}-{(start + length) * 1000} hold={length * 1000}", *([] if stamps else ["sysctl_a=net.ipv4.tcp_timestamps 0"])]

    def judge(seen):
        if seen.drops() or not seen.timeouts(s) or not seen.finished():
            return "no timeout"
        return truth({"spurious_rto": s}, ["rto", "spurious_fast", "reordering", "duplication", "bufferbloat"], budget={f"stood_still@{s}": max(0.0, (length - 2 * rtt) / 1000 - seen.raw[seen.dir]["longest_wait"])})
    return Case("delay-spike", [*lines, *rate(p, toward(s), 8), *path(rng, p, rtt)], judge, s, rng.choice(KERNELS), p)


def ack_loss(rng):
    """ACKs are lost and nothing else."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([600, 1200]) * 1000)
    ppm, after = rng.choice([200000, 400000, 600000]), rng.choice(["", " after"])
    p["ack_loss"] = f"{ppm // 10000} %"

    def judge(seen):
        if len(seen.drops()) < 20 or seen.timeouts() or not seen.finished():
            return "too few losses"
        # Behind the loss a capture sees fewer ACKs. IPv6 does not number packets: there they look like a stack's own choice.
        at = "" if p.get("ipv6") else s + ("" if after else "m")
        return truth({}, ["ack_loss", "ack_thinning"], one_of=[[["ack_loss", "ack_thinning"], at]], never=[] if seen.retrans else ["random_loss", "congestion_loss"])
    return Case("ack-loss", [*lines, f"rule={toward(other(s))} ack n=10 k=1000000 p={ppm}{after} drop", *rate(p, toward(s), rng.choice([20, 50])), *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)],
                judge, s, rng.choice(KERNELS), p)


def reordering(rng):
    """Segments are overtaken."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([600, 1200]) * 1000)
    rtt, ppm = rng.choice([10, 20, 40, 80, 120]), rng.choice([5000, 20000, 50000])
    late = max(1.0, rtt * rng.choice([0.1, 0.3, 0.6]))
    p["late"] = f"{ppm / 10000} % by {late} ms"

    def judge(seen):
        if seen.drops() or seen.timeouts() or len(seen.done("delay")) < 4 or not seen.finished():
            return "too few were late"
        if not seen.s("TCPSACKReorder") and not seen.s("TCPTSReorder") and not seen.s("TCPDSACKRecv") and not seen.r("TCPOFOQueue"):
            return "nobody saw it"
        if seen.s("TCPDSACKRecv") > 1:
            return truth({"spurious_fast": s}, ["reordering", "spurious_fast", "random_loss"], one_of=[[["reordering", "spurious_fast"], POINTS]])
        return truth({"reordering": "m" + other(s)}, ["reordering", "spurious_fast"])
    return Case("reordering", [*lines, f"rule={toward(s)} data n=30 k=1000000 p={ppm} delay={int(late * 1000)}", *rate(p, toward(s), rng.choice([20, 50])), *path(rng, p, rtt), *sometimes(rng, p)],
                judge, s, rng.choice(KERNELS), p)


def duplication(rng):
    """The path delivers segments twice, a moment later."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([400, 800]) * 1000)
    ppm, later = rng.choice([20000, 50000, 100000]), rng.choice([50, 300, 2000])

    def judge(seen):
        if seen.drops() or seen.retrans or len(seen.done("dup")) < 5 or not seen.finished():
            return "too few were doubled"
        return truth({"duplication": "m" + other(s)}, ["duplication", "artefacts", "spurious_fast", "reordering"])
    return Case("duplication", [*lines, f"rule={toward(s)} data n=5 k=1000000 p={ppm} dup={later}", *rate(p, toward(s), rng.choice([20, 50])), *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)],
                judge, s, rng.choice(KERNELS), p)


def mtu(rng):
    """Large segments never arrive, small ones do."""
    p, after = {}, rng.choice(["", " after"])
    s = rng.choice("ab")
    lines = [f"{s}_script=(w100 s30000)*3 w{rng.choice([20, 100]) * 1000} c", f"{other(s)}_script=d c", f"rule={toward(s)} data big={rng.choice([1300, 1400, 1450])}{after} drop",
             f"max={rng.choice([5, 12]) * 1000000}", "steps=1"]

    def judge(seen):
        return truth({"black_hole": before(s, after)}, ["rto", "tail_loss", "large_missing"]) if seen.timeouts(s) >= 3 else "too few timeouts"
    return Case("mtu-black-hole", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def clock_step(rng):
    """The clock of the capturing host is set while it captures."""
    p, n = {}, rng.randint(10, 30)
    step = rng.choice([-0.5, -2, -30, 3600, -3600])
    p["step_s"] = step
    lines = [f"a_script=(w200 r2000 s10000)*{n} c", f"b_script=(r200 w2000)*{n} d c"]

    def judge(seen):
        return truth(must("clock_step"), ["artefacts", "clock_step", "slow_client", "slow_server"]) if seen.quiet else "not quiet"
    return Case("clock-step", [*lines, *path(rng, p, rng.choice(RTTS))], judge, "b", rng.choice(KERNELS), p, post=("step", step, rng.choice([0.3, 0.5, 0.7])))


KINDS = [(random_loss, 3), (congestion_loss, 3), (bufferbloat, 2), (policer, 2), (tail, 2), (lone, 2), (outage, 3), (spike, 3), (ack_loss, 2), (reordering, 3), (duplication, 2),
         (mtu, 2), (clock_step, 1)]
