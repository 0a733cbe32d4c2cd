"""The kinds of held_out_4 in which nothing is wrong. Do not describe them elsewhere."""

from case import rate, truth
from held_out_2 import case, dress


def calm(seen, allowed=()):
    """Nothing was lost and all ended well."""
    return truth(allowed=allowed) if seen.quiet and seen.finished() else "not quiet"


def cards(rng):
    """Network cards cut and join segments, so that captures at the ends show frames that no wire carries."""
    p, n, cut = {}, rng.randint(6, 20), rng.choice([1, 1, 2])
    size = rng.choice([3000, 14000, 50000])
    p.update(offload=cut, bytes=size)
    lines = [f"offload={cut}", f"a_script=(w280 r{size})*{n} c", f"b_script=(r280 w{size})*{n} d c", "b_nodelay=1", *rate(p, "ba", rng.choice([80, 200, 500]), 4000)]
    if rng.random() < 0.3:
        lines.append("ipv6=1")
    return case("cards", rng, p, lines, rng.choice([0.4, 3, 9, 18]), lambda seen: calm(seen, ["artefacts", "slow_start"]), "b", clothes=False)


def desk(rng):
    """Somebody types in a remote shell; some commands print a little."""
    p, n, rtt = {}, rng.randint(30, 80), rng.choice([0.7, 19, 44, 120, 310, 520])
    key, echo, out = rng.choice([36, 44, 68]), rng.choice([36, 52, 84]), rng.choice([300, 1800, 6000])
    slowest, parts = rng.choice([150, 320]), rng.randint(2, 4)
    p.update(keys=n, slowest_ms=slowest)
    lines = [f"a_script=((j{slowest * 1000} w{key} r{echo})*{n // parts} w{key} r{out})*{parts} c", f"b_script=((r{key} w{echo})*{n // parts} r{key} w{out})*{parts} d c", "a_nodelay=1", "b_nodelay=1"]
    return case("desk", rng, p, lines, rtt, lambda seen: calm(seen, ["slow_client"]), "b")


def batch(rng):
    """Requests in one write that the server answers one after the other without a pause."""
    p, k, n = {}, rng.randint(3, 9), rng.randint(5, 25)
    reply = rng.choice([60, 250, 1100])
    p.update(at_once=k, rounds=n, reply=reply)
    lines = [f"a_script=(w{k * 75} r{k * reply})*{n} c", f"b_script=((r75 w{reply})*{k})*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    return case("batch", rng, p, lines, rng.choice([0.3, 5, 40, 41, 88, 230]), calm, "b")


def mobile(rng):
    """A path whose delay goes up and down all the time, without loss and in order."""
    p, n, reply = {}, rng.randint(15, 50), rng.choice([200, 1400, 9000])
    swing = rng.choice([4, 9, 16])
    p.update(swing_ms=swing, reply=reply)
    lines = [f"a_script=(w260 r{reply})*{n} c", f"b_script=(r260 w{reply})*{n} d c", "a_nodelay=1", "b_nodelay=1", f"jitter_ab={swing * 1000}", f"jitter_ba={swing * 700}"]
    return case("mobile", rng, p, lines, rng.choice([38, 57, 96, 160]), calm, "b")


def ftp(rng):
    """A control connection that rests, and a connection of its own for each small file."""
    p, files, size = {}, rng.randint(3, 9), rng.choice([1500, 5000, 11000])
    p.update(files=files, bytes=size)
    up = rng.random() < 0.5
    lines = [f"conns={files + 1}", "stagger=450000", f"a_script=(w24 r60 s430000)*{files} w6 r30 c", f"b_script=(r24 w60)*{files} r6 w30 d c"]
    lines += [f"a_script={'w' + str(size) if up else 'd'} c", f"b_script={'d' if up else 'w' + str(size)} c"]
    return case("ftp", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.6, 14, 39, 115]), lambda seen: calm(seen, ["slow_client"]), "b", clothes=False)


def sockets(rng):
    """Open pages that a server asks from time to time whether they are still there."""
    p, conns, n, every = {}, rng.randint(1, 4), rng.randint(2, 5), rng.choice([7, 20, 45])
    p.update(connections=conns, every_s=every)
    lines = [f"conns={conns}", "stagger=1300000", f"a_script=w390 r129 (r2 w6)*{n} c", f"b_script=r390 w129 (s{every * 1000000} w2 r6)*{n} d c", "max=320000000"]
    return case("sockets", rng, p, lines, rng.choice([1, 23, 43, 140, 280]), lambda seen: calm(seen, ["slow_server", "slow_client"]), "b")


KINDS = [(cards, 3), (desk, 3), (batch, 3), (mobile, 3), (ftp, 2), (sockets, 2)]
