"""Families of the labelled corpus: captures that do not show the wire, and more traffic that is in order."""

from families import OLD, VIRTUAL, Case, nothing_if_quiet, nothing_if_unharmed, other, path, sometimes, truth
from families_loss import KERNELS, bulk, bulk_clean, middle_loss, wide


# ---- captures that do not show the wire ---------------------------------------------------------------------------

def super_segments(rng):
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([100, 300, 1000]) * 1000, rng.random() < 0.5)
    kind = rng.choice([1, 1, 2])
    p["offload"] = "sender" if kind == 1 else "both"
    lines += [*wide(rng, p, s, 10), *path(rng, p), f"offload={kind}"]
    return Case("super-segments", lines, nothing_if_quiet, s, rng.choice(KERNELS), p, post="super" if kind == 1 else "super-both")


def spoiled(rng):
    """A clean transfer whose capture lacks something: one direction, some packets, the beginning, the options; or has all twice."""
    c = rng.choice([bulk_clean, bulk_clean, middle_loss])(rng)
    c.family, c.post = "spoiled", rng.choice(["one-direction", "one-direction", "lost-by-capture", "lost-by-capture", "doubled-by-capture", "no-beginning", "headers-cut"])
    c.params["capture"] = c.post
    return c


# ---- traffic that is in order -------------------------------------------------------------------------------------

def cut_short(rng):
    """The capture ends in the middle of a transfer: silence at the end of a file is no black hole."""
    p = {}
    s, _, lines = bulk(rng, p, 3000000)
    p["capture_ends_ms"] = rng.choice([300, 600, 1000, 2000])
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p), f"max={p['capture_ends_ms'] * 1000}"]
    return Case("cut-short", lines, nothing_if_quiet, s, rng.choice(KERNELS), p)


def keepalive(rng):
    p = {"workload": "idle with keep-alives"}
    s = rng.choice("ab")
    lines = [f"{s}_script=w300 r300 s{rng.choice([6, 12]) * 1000000} w300 r300 c", f"{other(s)}_script=r300 w300 r300 w300 d c", f"{s}_keepalive_s={rng.choice([1, 2])}",
             *path(rng, p), *sometimes(rng, p)]
    return Case("keepalive", lines, nothing_if_unharmed, s, rng.choice(KERNELS), p)


def slow_sender(rng):
    """An application that writes when it likes: gaps that no TCP made."""
    p = {"workload": "bursts with pauses"}
    s = rng.choice("ab")
    bursts = " ".join(f"w{rng.choice([10, 300, 1000, 1448, 5000, 40000, 100000])} j{rng.choice([30, 200, 700, 1500]) * 1000}" for _ in range(rng.randint(5, 20)))
    lines = [f"{s}_script={bursts} c", f"{other(s)}_script=d c", f"{s}_nodelay={rng.randint(0, 1)}", *path(rng, p, None, rng.random() < 0.4), *sometimes(rng, p)]
    return Case("slow-sender", lines, nothing_if_unharmed, s, rng.choice(VIRTUAL), p)


def many(rng):
    """Many short connections at once; sometimes one of them loses its SYN."""
    p, n = {}, rng.randint(5, 40)
    p.update(workload="short connections", connections=n)
    lines = [f"conns={n}", f"stagger={rng.choice([500, 5000, 30000])}", "a_script=w300 r8000 c", "b_script=r300 w8000 d c", *path(rng, p), *sometimes(rng, p)]
    return Case("many", lines, nothing_if_quiet, "b", rng.choice(KERNELS), p)


def duplex(rng):
    p = {"workload": "both sides send"}
    n = rng.randint(20, 60)
    lines = [f"a_script=(p20000 w{rng.choice([100, 1000, 3000])})*{n} h d c", f"b_script=(p{rng.choice([15, 20, 33]) * 1000} w{rng.choice([50, 1448, 4000])})*{n} h d c", "a_nodelay=1", "b_nodelay=1",
             *path(rng, p), *sometimes(rng, p)]
    return Case("duplex", lines, nothing_if_unharmed, "a", rng.choice(VIRTUAL), p)


def aborted(rng):
    p = {"workload": "the reader resets the connection"}
    s, _, lines = bulk(rng, p, 500000)
    lines[1] = f"{other(s)}_script=r{rng.choice([50000, 150000])} R"
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p)]
    return Case("aborted", lines, nothing_if_quiet, s, rng.choice(KERNELS), p)


def both(rng):
    """Two causes in one connection: quick ACKs run out, and later an outage."""
    p, n = {}, 70
    p.update(workload="stream", write_size=1024, interval_ms=100, writes=n, nagle=False, outage_ms=[4020, 6520])
    lines = ["a_script=d c", f"b_script=(p100000 w1024)*{n} s800000 c", "b_nodelay=1", *path(rng, p, rng.choice([0.2, 5, 20, 40])), "rule=ba packet t=4020000-6520000 drop"]

    def judge(seen):
        if not seen.timeouts or seen.r("DelayedACKs") < 15:
            return None
        return truth(["quickack_exhausted", "rto_stall"], ["tail_loss"])
    return Case("two-causes", lines, judge, "b", rng.choice(OLD), p)
