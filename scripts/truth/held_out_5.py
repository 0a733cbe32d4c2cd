"""Kinds of trouble that nobody who writes detectors looks at before the last measurement: policers and random losses. Do not describe them elsewhere."""

import held_out_5_more
from case import POINTS, other, rate, toward, truth
from held_out_2 import case, dress, timeouts
from held_out_3 import lossy
from held_out_4 import data_drops


def hit(seen, direction):
    """The connections of which data was dropped."""
    return {h[3] for h in data_drops(seen, direction)}


def police(p, direction, mbit, burst, line, packets=4000):
    """A token bucket, and behind it a line."""
    p.update(policed_mbit=mbit, burst=burst)
    return [f"police_{direction}={int(mbit * 1000)}", f"burst_{direction}={burst}", f"rate_{direction}={int(line * 1000)}", f"queue_{direction}={packets}"]


def policed(seen, direction, least):
    """The truth of a run in which a policer, and nothing else, dropped data."""
    if seen.raw[direction]["policed"] < least or seen.raw[direction]["queue_drops"] or not seen.finished():
        return "too few losses"
    if len(seen.drops()) != seen.raw[direction]["policed"]:
        return "something else dropped, too"
    if seen.retrans < least:
        return "too little was sent again"
    if len({int(h[0] / 0.3) for h in data_drops(seen, direction)}) < 3:
        return "the bucket was empty only once"
    return truth({"policer": POINTS, **timeouts(seen)}, ["congestion_loss", "tail_loss", "window_after_idle"], never=["random_loss"])


def speedtest(rng):
    """A provider gives the first megabytes at the speed of the line, and polices what comes after them."""
    p, s, mbit = {}, rng.choice("bba"), rng.choice([6, 10, 16])
    burst = rng.choice([400, 800, 1500]) * 1000
    size = burst + int(mbit * 125000 * rng.choice([2.5, 3.5]))
    p["bytes"] = size
    lines = [f"a_script=w310 r{size} c", f"b_script=r310 w{size} d c"] if s == "b" else [f"a_script=w{size} r50 c", f"b_script=r{size} w50 d c"]
    lines += police(p, toward(s), mbit, burst, rng.choice([80, 150, 250]))

    def judge(seen):
        t = policed(seen, seen.dir, 20)
        if not isinstance(t, str) and min(h[4] for h in data_drops(seen, seen.dir)) < 0.8 * burst:
            return "the bucket was not full at first"
        return t
    return case("speedtest", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([7, 16, 33]), judge, s, clothes=False)


def metered(rng):
    """Objects go up to a cloud one after the other, through a policer whose bucket holds a handful of packets."""
    p, mbit, n = {}, rng.choice([3, 5, 9]), rng.randint(5, 9)
    burst, size = rng.choice([6200, 7700, 9300]), rng.choice([70, 130, 220]) * 1000
    pause = rng.choice([0, 0, 60, 250])
    p.update(bytes=size, pause_ms=pause)
    lines = [f"a_script=(w{size} r120{f' s{pause * 1000}' if pause else ''})*{n} c", f"b_script=(r{size} w120)*{n} d c", *police(p, "ab", mbit, burst, rng.choice([100, 500]))]
    return case("metered", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([5, 13, 30]), lambda seen: policed(seen, "ab", 20), "a", clothes=False)


def household(rng):
    """All that a house sends shares one policer: a backup, films of a doorbell, and pictures from time to time."""
    p, mbit = {}, rng.choice([2, 4, 6])
    burst, seconds = rng.choice([24, 45, 80]) * 1000, rng.choice([5, 7])
    large, frame, every = int(mbit * 125000 * seconds * 0.6), int(mbit * rng.choice([600, 1200])), rng.choice([40, 66])
    picture, n = rng.choice([60, 140]) * 1000, rng.randint(3, 5)
    scripts = [(f"w{large} r40 c", f"r{large} w40 d c"), (f"(p{every * 1000} w{frame})*{seconds * 1000 // every} c", "d c"),
               (f"(w{picture} r40 s{rng.choice([400, 900]) * 1000})*{n} c", f"(r{picture} w40)*{n} d c")]
    scripts = scripts[:1] + rng.choice([scripts[:1] + scripts[1:], scripts[1:], scripts[2:]])
    p["connections"] = len(scripts)
    lines = [f"conns={len(scripts)}", f"stagger={rng.choice([150, 600]) * 1000}", *(f"a_script={a}" for a, _ in scripts), *(f"b_script={b}" for _, b in scripts),
             "a_nodelay=1", "max=120000000", *police(p, "ab", mbit, burst, rng.choice([40, 100]))]

    def judge(seen):
        return "only one was policed" if len(hit(seen, "ab")) < 2 else policed(seen, "ab", 20)
    return case("household", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([9, 21, 42]), judge, "a", clothes=False)


def ingress(rng):
    """The provider polices at its edge, and a shaper with a queue behind it makes the line's own pace of what is left."""
    p, s, mbit, conns = {}, rng.choice("abb"), rng.choice([5, 8, 14]), rng.choice([1, 1, 2])
    burst, line = rng.choice([30, 60, 100]) * 1000, mbit * rng.choice([1.4, 1.8, 2.5])
    size = int(burst + mbit * 125000 * rng.choice([3, 4])) // conns
    p.update(bytes=size, connections=conns, line_mbit=line)
    lines = [f"conns={conns}", "stagger=200000", f"{s}_script=w{size} c", f"{other(s)}_script=d c", *police(p, toward(s), mbit, burst, line)]

    def judge(seen):
        return "the shaper had nothing to do" if seen.raw[seen.dir]["longest_wait"] < 0.004 else policed(seen, seen.dir, 15)
    return case("ingress", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([8, 18, 40]), judge, s, clothes=False)


def aggregate(rng):
    """A radio sends packets in bundles, and now and then a whole bundle, or the rest of one, is lost."""
    p, s, mbit, conns = {}, rng.choice("aab"), rng.choice([12, 25, 40]), rng.choice([1, 1, 2])
    size, n = rng.choice([2200, 3500]) * 1000, rng.randint(6, 11)
    packets, bundle = size // 1448, rng.choice([6, 12, 20])
    starts = sorted(rng.sample(range(80, packets - 100, 70), n))
    p.update(bundle=bundle, bundles=n, bytes=size, connections=conns)
    lines = [f"conns={conns}", "stagger=40000", f"{s}_script=w{size // conns} c", f"{other(s)}_script=d c", *rate(p, toward(s), mbit, 4000)]
    lines += [f"rule={toward(s)} data n={x} k={rng.randint(2, bundle)} drop" for x in starts]

    def judge(seen):
        if len(data_drops(seen, seen.dir)) < 2 * n or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    return case("aggregate", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([4, 11, 24, 50]), judge, s, clothes=False)


def broadcast(rng):
    """Live pictures go out frame by frame, far below what the line takes, and a worn cable loses some packets one way."""
    p, s, after = {}, rng.choice("aab"), rng.choice(["", " after"])
    every, frame, ppm = rng.choice([33, 40]), rng.choice([5000, 9000, 15000]), rng.choice([5000, 8000, 13000])
    groups = max(10, int(12e6 / ppm / (14 * frame / 1448)))
    p.update(frame=frame, every_ms=every, loss=f"{ppm / 10000} %")
    tick = f"p{every * 1000}"
    lines = [f"{s}_script=({tick} w{3 * frame} ({tick} w{frame})*11)*{groups} c", f"{other(s)}_script=d c", f"{s}_nodelay=1", f"rule={toward(s)} data p={ppm}{after} drop", "max=150000000",
             *rate(p, toward(s), rng.choice([25, 60]), 4000)]

    def judge(seen):
        if len(seen.drops()) < 5 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    return case("broadcast", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([10, 25, 60, 110]), judge, s, clothes=False)


def ocean(rng):
    """A fast path across an ocean on which one packet of a thousand is lost."""
    p, s, ppm = {}, rng.choice("abb"), rng.choice([900, 1300, 2000])
    rtt, size = rng.choice([130, 180, 240]), int(9e6 / ppm) * 1448
    p.update(loss=f"{ppm / 10000} %", bytes=size)
    lines = [f"{s}_script=w{size} c", f"{other(s)}_script=d c", f"rule={toward(s)} data p={ppm} drop", "max=240000000", f"sysctl_{other(s)}=net.ipv4.tcp_rmem 4096 6291456 6291456",
             *rate(p, toward(s), rng.choice([80, 150, 250]), 6000)]

    def judge(seen):
        if len(seen.drops()) < 4 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    return case("ocean", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def tiles(rng):
    """The small pictures of a map come over some connections, and a bad radio loses packets of all sorts, both ways."""
    p, conns = {}, rng.randint(4, 6)
    size, ppm, pause = rng.choice([4000, 8000, 13000]), rng.choice([12000, 20000, 30000]), rng.choice([0, 5, 80])
    n = max(12, int(15e6 / ppm / (conns * (1 + size // 1448))))
    p.update(bytes=size, connections=conns, loss=f"{ppm / 10000} % each way")
    lines = [f"conns={conns}", f"stagger={rng.choice([5, 70]) * 1000}", f"a_script=(w330 r{size}{f' s{pause * 1000}' if pause else ''})*{n} c", f"b_script=(r330 w{size})*{n} d c",
             *rate(p, "ba", rng.choice([15, 40]), 4000), "max=120000000"]
    lines += [f"rule={way} packet p={ppm} drop" for way in ("ab", "ba")]

    def judge(seen):
        if len(data_drops(seen, "ba")) < 6 or seen.raw["ba"]["queue_drops"] or not seen.finished():
            return "too few losses"
        if seen.s("TCPSackRecovery") >= max(5, seen.s("TCPLossProbes")):
            return lossy(seen, "random_loss", "b", "congestion_loss")
        # Of most objects the end was lost: whoever says so is right.
        return truth({}, ["random_loss", "rto", "tail_loss"], never=["congestion_loss"], one_of=[[["random_loss", "rto", "tail_loss"], "b"]])
    return case("tiles", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([6, 18, 40, 75]), judge, "b", clothes=False)


KINDS = [(speedtest, 3), (metered, 2), (household, 3), (ingress, 3), (aggregate, 3), (broadcast, 3), (ocean, 2), (tiles, 3), *held_out_5_more.KINDS]
