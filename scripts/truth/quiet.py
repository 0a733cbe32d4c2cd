"""Kinds without any trouble: at least a quarter of the runs."""

from case import KERNELS, Case, path, rate, sometimes, toward, truth

RTTS = [0.2, 1, 2, 5, 10, 20, 40, 45, 60, 80, 100, 150, 200]


def nothing(seen):
    return truth() if seen.quiet and seen.finished() else "not quiet"


def bulk(rng):
    """As much as the path takes, with a window of two or three times what it holds."""
    p, s = {}, rng.choice("ab")
    mbit, rtt = rng.choice([10, 20, 50]), rng.choice([2, 5, 10, 15])
    window = int(mbit * 1e6 / 8 * rtt / 1000 * rng.choice([2, 2.5, 3]))
    size = int(mbit * 1e6 / 8 * rng.choice([0.5, 1, 2]))
    if window < 12000 or window / (mbit * 1e6 / 8) > 0.045:
        window = max(12000, int(mbit * 1e6 / 8 * 0.03))
    o = "b" if s == "a" else "a"
    p.update(bytes=size, window=window)
    lines = [f"{s}_script=w{size} c", f"{o}_script=d c", f"{o}_rcvbuf={window}", *rate(p, toward(s), mbit, 4000), *path(rng, p, rtt), *sometimes(rng, p)]
    return Case("quiet-bulk", lines, nothing, s, rng.choice(KERNELS), p)


def request_response(rng):
    p, n = {}, rng.randint(5, 60)
    request, reply = rng.choice([20, 100, 400, 1200]), rng.choice([20, 200, 1000, 1448, 5000, 12000])
    p.update(requests=n, reply=reply)
    lines = [f"a_script=(w{request} r{reply})*{n} c", f"b_script=(r{request} w{reply})*{n} d c"]
    if rng.random() < 0.5:
        lines += ["a_nodelay=1", "b_nodelay=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(budget={"under_way": sum(seen.exchanges("a")), "handshake": seen.handshake()})
    return Case("quiet-rr", [*lines, *path(rng, p, rng.choice(RTTS), rng.choice([0, 0, 0.5, 2])), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def idle(rng):
    """A person's pauses between requests."""
    p, n = {}, rng.randint(2, 5)
    reply = rng.choice([200, 1000, 6000])
    lines = [f"a_script=(w200 r{reply} s{rng.choice([3, 7, 15, 40]) * 1000000})*{n} c", f"b_script=(r200 w{reply})*{n} d c", "max=300000000"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(allowed=["slow_client"], budget={"client_thinks": seen.slept("a", last=True)})
    return Case("quiet-idle", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def short_ones(rng):
    """Several connections with a request each."""
    p, n = {}, rng.randint(3, 12)
    reply = rng.choice([500, 3000, 10000])
    lines = [f"conns={n}", f"stagger={rng.choice([1, 20, 100]) * 1000}", f"a_script=w150 r{reply} c", f"b_script=r150 w{reply} d c"]
    return Case("quiet-short", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], nothing, "b", rng.choice(KERNELS), p)


def stream(rng):
    """Small writes at a pace that the application sets."""
    p, s, n = {}, rng.choice("ab"), rng.randint(20, 60)
    o, size = "b" if s == "a" else "a", rng.choice([100, 500, 1000, 1400])
    lines = [f"{s}_script=(p{rng.choice([20, 50, 100]) * 1000} w{size})*{n} c", f"{o}_script=d c", f"{s}_nodelay=1"]
    return Case("quiet-stream", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], nothing, s, rng.choice(KERNELS), p)


def cured(rng):
    """A request in two writes with TCP_NODELAY, or in one write."""
    p, n = {}, rng.randint(8, 30)
    lines = [f"a_script=({rng.choice(['w100 w300', 'w400'])} r500)*{n} c", f"b_script=(r400 w500)*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    return Case("quiet-cured", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], nothing, "a", rng.choice(KERNELS), p)


def half_closed(rng):
    """The client says all that it has to say, shuts down writing, and reads the answer."""
    p = {}
    reply = rng.choice([3000, 10000])
    lines = [f"a_script=w700 h r{reply} d c", f"b_script=r700 d w{reply} c"]
    return Case("quiet-half-closed", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], nothing, "b", rng.choice(KERNELS), p)


KINDS = [(bulk, 6), (request_response, 8), (idle, 3), (short_ones, 4), (stream, 4), (cured, 4), (half_closed, 2)]
