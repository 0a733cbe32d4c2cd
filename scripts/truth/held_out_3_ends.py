"""The kinds of held_out_3 that applications and ends make, and the quiet ones. They were held out once, too."""

from apps import thought
from case import must, n_round_trips, other, rate, toward, truth
from held_out_2 import case, dress


def late_acks(seen):
    """Where the receiver delayed ACKs, a window that is small for whatever reason waits for them."""
    return ["delack_request_response"] if seen.r("DelayedACKs") else []


def thinking(seen, conns):
    """Seconds that the server thought on all its connections."""
    return sum(thought(seen, "b", k) for k in range(conns))


def pool(rng):
    """A pool of connections to a database; on one or two of them queries wait for a lock."""
    p, conns, n = {}, rng.randint(3, 8), rng.randint(10, 30)
    locked, wait = rng.sample(range(conns), rng.choice([1, 1, 2])), rng.choice([600, 1500, 4000])
    reply, rtt = rng.choice([80, 700, 6000]), rng.choice([0.3, 0.7, 2, 9, 24])
    p.update(connections=conns, locked=locked, wait_ms=wait)
    lines = [f"conns={conns}", f"stagger={rng.choice([400, 9000])}", "a_nodelay=1", "b_nodelay=1"]
    for k in range(conns):
        think = rng.choice([300, 900, 2500])
        first = rng.randint(2, n - 2)
        quick = f"(r140 s{think} w{reply})"
        lines.append(f"a_script=(w140 r{reply})*{n + 1} c")
        lines.append(f"b_script={quick}*{first} r140 s{wait * 1000 if k in locked else think} w{reply} {quick}*{n - first} d c")

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(thought(seen, "b", k) < 0.4 * sum(seen.exchanges("a", k)) for k in locked):
            return "the path took longer than the server"
        return truth(must("slow_server"), budget={"server_thinks": thinking(seen, conns)})
    return case("pool", rng, p, lines, rtt, judge, "b")


def rows(rng):
    """A server that thinks for long, and then gives its answer away in small pieces as they come."""
    p, n, think = {}, rng.randint(2, 4), rng.choice([500, 900, 1600])
    pieces, gap, piece = rng.randint(5, 12), rng.choice([25, 60]), rng.choice([40, 300, 1200])
    p.update(think_ms=think, gap_ms=gap, pieces=pieces)
    lines = [f"a_script=(w350 r{piece * (pieces + 1)})*{n} c", f"b_script=(r350 s{think * 1000} w{piece} (s{gap * 1000} w{piece})*{pieces})*{n} d c", "b_nodelay=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("slow_server"), budget={"server_pauses": sum(seen.pauses("b"))})
    return case("rows", rng, p, lines, rng.choice([0.4, 7, 18, 65, 130]), judge, "b")


def frozen(rng):
    """A reader that stands still once, for seconds, in the middle of a transfer; another connection beside it may be well."""
    p, s, cap = {}, rng.choice("aabb"), rng.choice([120, 250, 400]) * 1000
    pause, first = rng.choice([2500, 6000, 11000]), rng.choice([150, 600]) * 1000
    size, o = first + 4 * cap, other(s)
    p.update(pause_ms=pause, buffer=cap)
    lines = [f"{s}_script=w{size} c", f"{o}_script=r{first} s{pause * 1000} d c", f"sysctl_{o}=net.ipv4.tcp_rmem 4096 65536 {cap}", *rate(p, toward(s), rng.choice([20, 60]))]
    if rng.random() < 0.4:
        lines += ["conns=2", "stagger=30000", f"{s}_script=w{rng.choice([20, 90]) * 1000} c", f"{o}_script=d c"]
        p["connections"] = 2

    def judge(seen):
        if seen.drops() or not seen.finished():
            return "not finished"
        if not seen.r("TCPToZeroWindowAdv") or seen.seconds("rwnd") < 0.6 * max(seen.pauses(seen.receiver)):
            return "the window was not closed for long"
        return truth(must("zero_window"), ["receive_window", "slow_start", *late_acks(seen)], budget={"zero_window": seen.seconds("rwnd") * 0.95})
    return case("frozen", rng, p, lines, rng.choice([0.3, 5, 25, 80, 160]), judge, s)


def long_fat(rng):
    """A far and fast path, and a receiver whose administrator gave it little memory; up to three connections."""
    p, s, rtt, conns = {}, rng.choice("abb"), rng.choice([90, 150, 220, 300]), rng.choice([1, 1, 2, 3])
    cap = rng.choice([40, 80, 140]) * 1000
    p.update(buffer=cap, connections=conns)
    lines = [f"conns={conns}", "stagger=15000", f"{s}_script=w{cap * rng.randint(9, 14)} c", f"{other(s)}_script=d c", f"sysctl_{other(s)}=net.ipv4.tcp_rmem 4096 {min(cap, 65536)} {cap}",
             *rate(p, toward(s), rng.choice([150, 400]))]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(seen.info(s, "rwnd_limited_us", k) < 0.6 * seen.info(s, "busy_us", k) for k in range(conns)):
            return "the window was not the limit"
        return truth(must("receive_window"), ["slow_start", *late_acks(seen)], budget={"receive_window": 0.95 * sum(seen.info(s, "rwnd_limited_us", k) for k in range(conns)) / 1e6})
    return case("long-fat", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def backup(rng):
    """A program that sets SO_SNDBUF once and for all, and a path that has outgrown it."""
    p, s, rtt, conns = {}, rng.choice("aab"), rng.choice([55, 110, 180, 260]), rng.choice([1, 1, 2])
    buffer = rng.choice([16, 32, 64]) * 1024
    size = buffer * rng.randint(35, 50)
    p.update(buffer=buffer, bytes=size, connections=conns)
    lines = [f"conns={conns}", f"{s}_script=w{size} c", f"{other(s)}_script=d c", f"{s}_sndbuf={buffer}", f"sysctl_{other(s)}=net.ipv4.tcp_rmem 4096 1000000 6291456", *rate(p, toward(s), rng.choice([200, 500]), 4000)]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        spare = 0.0
        for k in range(conns):
            took, mss = seen.info(s, "ended", k) - seen.info(s, "opened", k), seen.info(s, "snd_mss", k)
            free = (n_round_trips(size, 10 * mss) + 1) * rtt / 1000
            if took < 2 * free or seen.info(s, "cwnd", k) * mss < 1.2 * size * rtt / 1000 / took or seen.info(s, "rwnd_limited_us", k) > 0.1 * seen.info(s, "busy_us", k):
                return "the send buffer was not the limit"
            spare += took - free
        return truth(must("send_buffer"), ["slow_start", "delack_request_response"], budget={"send_buffer": spare})
    return case("backup", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def viewer(rng):
    """Quiet: a player that reads a little at a time, with memory for much more than a piece of the film."""
    p, n = {}, rng.randint(4, 8)
    piece, every = rng.choice([60, 120, 200]) * 1000, rng.choice([1000, 2000])
    parts = rng.choice([10, 20])
    p.update(piece=piece, every_ms=every)
    lines = [f"a_script=(w250 (r{piece // parts} s{every * 700 // parts})*{parts} s{every * 200})*{n} c", f"b_script=(r250 w{piece})*{n} d c", "sysctl_a=net.ipv4.tcp_rmem 4096 2000000 6291456", *rate(p, "ba", rng.choice([20, 60]))]

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.count("a", "TCPToZeroWindowAdv") or seen.seconds("rwnd") > 0.01:
            return "the window was closed"
        return truth(allowed=["slow_client", "window_after_idle", "slow_start", *late_acks(seen)], never=["zero_window", "receive_window"])
    return case("viewer", rng, p, lines, rng.choice([3, 17, 42, 75]), judge, "b")


def long_poll(rng):
    """Quiet: a client asks for news, and the server answers when there are some."""
    p, n = {}, rng.randint(3, 6)
    waits = [rng.choice([4, 9, 20, 45, 50]) for _ in range(n)]
    p["waits_s"] = waits
    lines = [f"a_script=(w280 r350 s{rng.choice([1, 4]) * 1000})*{n} c", "b_script=" + " ".join(f"r280 s{w * 1000000} w350" for w in waits) + " d c", "max=320000000"]
    if rng.random() < 0.4:
        lines.append(f"{rng.choice('ab')}_keepalive_s={rng.choice([8, 15])}")

    def judge(seen):
        return truth(allowed=["slow_server"], budget={"server_thinks": thought(seen, "b")}) if seen.quiet and seen.finished() else "not quiet"
    return case("long-poll", rng, p, lines, rng.choice([0.5, 12, 33, 90, 190]), judge, "b")


def crossing(rng):
    """Quiet: a download and an upload at once, on a path that has room for the window of each."""
    p, mbit, rtt = {}, rng.choice([15, 35, 80]), rng.choice([3, 8, 18])
    window, size = int(mbit * 125 * (rtt + 22)), int(mbit * 125000 * rng.choice([0.6, 1.2]))
    p.update(window=window, bytes=size)
    lines = ["conns=2", f"stagger={rng.choice([0, 60000])}", f"a_script=w{size} c", "a_script=d c", "b_script=d c", f"b_script=w{size} c", f"a_rcvbuf={window}", f"b_rcvbuf={window}",
             *rate(p, "ab", mbit, 4000), *rate(p, "ba", mbit, 4000)]

    def judge(seen):
        return truth(allowed=["slow_start", "receive_window", *late_acks(seen)]) if seen.quiet and seen.finished() else "not quiet"
    return case("crossing", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "a", clothes=False)


def own_pace(rng):
    """Quiet: a program that sends so much and then waits, for its clock or for the other program's word."""
    p, s, n = {}, rng.choice("abb"), rng.randint(25, 50)
    size, clock = rng.choice([9, 20, 45]) * 1000, rng.random() < 0.5
    rtt = rng.choice([8, 27, 70, 140, 240])
    p.update(size=size, clock=clock)
    if clock:
        lines = [f"{s}_script=(p{rng.choice([30, 60, 120]) * 1000} w{size})*{n} c", f"{other(s)}_script=d c"]
    else:
        lines = [f"{s}_script=(w{size} r24)*{n} c", f"{other(s)}_script=(r{size} w24)*{n} d c"]

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.share("sndbuf") > 0.1 or seen.share("rwnd") > 0.1:
            return "something else was the limit"
        return truth(allowed=["slow_start", *late_acks(seen)], never=["send_buffer", "receive_window"])
    return case("own-pace", rng, p, lines, rtt, judge, s)


def groups(rng):
    """Quiet: a radio that keeps packets for some milliseconds and sends them in one go, both ways."""
    p, n, width = {}, rng.randint(15, 40), rng.choice([4, 7, 11])
    reply = rng.choice([400, 3000, 11000])
    p.update(group_ms=width, reply=reply)
    lines = [f"a_script=(w220 r{reply})*{n} c", f"b_script=(r220 w{reply})*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    for i in range(30):
        at = 2 + i * 2 * width
        lines += [f"rule={way} packet t={(at + k * width) * 1000}-{(at + (k + 1) * width) * 1000} hold={width * 1000}" for k, way in enumerate(("ab", "ba"))]

    def judge(seen):
        if len(seen.done("hold")) < 10:
            return "nothing waited"
        return truth() if seen.quiet and seen.finished() else "not quiet"
    return case("groups", rng, p, lines, rng.choice([2, 6, 15, 35]), judge, "b")


KINDS = [(pool, 4), (rows, 3), (frozen, 4), (long_fat, 4), (backup, 4), (viewer, 3), (long_poll, 3), (crossing, 3), (own_pace, 4), (groups, 3)]
