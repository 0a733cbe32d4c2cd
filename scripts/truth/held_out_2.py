"""More kinds, mostly on the path of one connection or a few. They were held out once; the detectors' authors have read them since."""

from apps import thought
from case import KERNELS, POINTS, Case, must, n_round_trips, other, path, rate, toward, truth


def dress(rng, p, small=True):
    """Clothes that change no truth: IPv6, no time stamps, a small or a large MTU."""
    lines = []
    v6 = rng.random() < 0.3
    if v6:
        lines.append("ipv6=1")
        p["ipv6"] = True
    if rng.random() < 0.25:
        lines.append("sysctl_a=net.ipv4.tcp_timestamps 0")
        p["timestamps"] = False
    mtu = rng.choice([1500, 1500, 1500, 1280 if v6 else 576, 1400, 9000] if small else [1500, 1500, 1400])
    if mtu != 1500:
        lines.append(f"mtu={mtu}")
        p["mtu"] = mtu
    return lines


def mostly_without_timeouts(seen):
    """Whether the sender repaired most losses without a timeout, and no timeout came in vain."""
    return seen.s("TCPSackRecovery") + seen.s("TCPRenoRecovery") >= max(3, seen.timeouts(seen.sender)) and not seen.s("TCPSpuriousRTOs")


def timeouts(seen):
    """A sender's timeouts, unless DSACK says that something arrived twice: then it is a matter of words whether they were needed."""
    return {"rto": seen.sender} if seen.timeouts(seen.sender) and not seen.s("TCPDSACKRecv") else {}


def case(kind, rng, p, lines, rtt, judge, sender, clothes=True):
    p["sender"] = sender
    return Case(kind, ["steps=1", *lines, *path(rng, p, rtt), *(dress(rng, p) if clothes else [])], judge, sender, rng.choice(KERNELS), p)


def wifi(rng):
    """A radio that is disturbed again and again for a few milliseconds; mostly an upload."""
    p, s, n = {}, rng.choice("aab"), 40
    every, width, ppm = rng.choice([90, 170, 310]), rng.choice([5, 8, 12]), rng.choice([400000, 700000])
    begin, mbit = rng.randint(80, 200), rng.choice([8, 15, 30])
    p.update(every_ms=every, width_ms=width)
    lines = [f"{s}_script=w{int(mbit * 125000 * rng.choice([1.3, 2.2]))} c", f"{other(s)}_script=d c", *rate(p, toward(s), mbit)]
    lines += [f"rule={toward(s)} data t={(begin + i * every) * 1000}-{(begin + i * every + width) * 1000} p={ppm} drop" for i in range(n)]
    if rng.random() < 0.3:
        lines.append("sysctl_a=net.ipv4.tcp_sack 0")
        p["sack"] = False

    def judge(seen):
        if len(seen.drops()) < 6 or not mostly_without_timeouts(seen) or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return truth({**must("random_loss"), **timeouts(seen)}, ["tail_loss"], never=["congestion_loss"])
    return case("wifi", rng, p, lines, rng.choice([3, 8, 15, 30, 55]), judge, s)


def uplink_deep(rng):
    """Photographs go up a slow line with a deep buffer, and small requests beside them wait."""
    p, mbit, rtt = {}, rng.choice([0.8, 1.5, 3]), rng.choice([12, 25, 50])
    size, n = int(mbit * 125000 * rng.choice([3, 4.5])), rng.randint(2, 3)
    pause, beside = rng.choice([300, 900, 1700]), rng.randint(15, 40)
    lines = ["conns=2", f"a_script=(w{size} r100 s{pause * 1000})*{n} c", f"b_script=(r{size} w100)*{n} d c", f"a_script=(w80 r300 s150000)*{beside} c", f"b_script=(r80 w300)*{beside} d c",
             "a_nodelay=1", "b_nodelay=1", *rate(p, "ab", mbit, 4000)]
    p["bytes"] = size

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.raw["ab"]["longest_wait"] < max(0.6, 6 * rtt / 1000):
            return "the queue stayed short"
        return truth({"bufferbloat": "a"}, ["receive_window", "send_buffer"])
    return case("uplink-deep", rng, p, lines, rtt, judge, "a")


def uplink_shallow(rng):
    """Bursts over a shaped uplink that holds a few packets."""
    p, mbit, n = {}, rng.choice([1, 2, 4]), rng.randint(4, 7)
    size, pause = int(mbit * rng.choice([60000, 100000])), rng.choice([100, 250, 600])
    lines = [f"a_script=(w{size} r60 s{pause * 1000})*{n} c", f"b_script=(r{size} w60)*{n} d c", *rate(p, "ab", mbit, rng.choice([7, 11, 16]))]

    def judge(seen):
        if seen.raw["ab"]["queue_drops"] < 6 or not mostly_without_timeouts(seen) or not seen.finished():
            return "too few losses"
        return truth({**must("congestion_loss"), **timeouts(seen)}, ["policer", "tail_loss"], never=["random_loss"])
    return case("uplink-shallow", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([15, 35, 70]), judge, "a", clothes=False)


def collector(rng):
    """A server that stands still now and then, on all its connections at once."""
    p, conns, parts = {}, rng.randint(3, 5), rng.randint(2, 3)
    each, stall, reply = rng.randint(8, 20), rng.choice([180, 350, 700, 1400]), rng.choice([150, 900, 4000])
    rtt = rng.choice([x for x in [0.3, 0.8, 2, 6, 15, 30] if x * each * 1.5 < stall])
    p.update(stall_ms=stall, stalls=parts, connections=conns)
    part = f"(r90 w{reply})*{each} r90 s{stall * 1000} w{reply}"
    lines = [f"conns={conns}", "stagger=700", f"a_script=(w90 r{reply})*{parts * (each + 1) + 3} c", f"b_script={' '.join([part] * parts)} (r90 w{reply})*3 d c", "b_nodelay=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(thought(seen, "b", k) < 0.35 * sum(seen.exchanges("a", k)) for k in range(conns)):
            return "the path took longer than the server"
        return truth(must("slow_server"), budget={"server_thinks": sum(thought(seen, "b", k) for k in range(conns))})
    return case("collector", rng, p, lines, rtt, judge, "b")


def player(rng):
    """A reader that takes much at once and then nothing for a while: a film, or a disk that is written in an upload."""
    p, s = {}, rng.choice("abb")
    chunk, pause, n, cap = rng.choice([90, 200, 400]) * 1000, rng.choice([400, 900, 2000]), rng.randint(3, 6), rng.choice([100000, 200000])
    p.update(chunk=chunk, pause_ms=pause, buffer=cap)
    lines = [f"{s}_script=w{chunk * n + 4 * cap} c", f"{other(s)}_script=(r{chunk} s{pause * 1000})*{n} d c", f"sysctl_{other(s)}=net.ipv4.tcp_rmem 4096 65536 {cap}", *rate(p, toward(s), rng.choice([15, 40]))]

    def judge(seen):
        if seen.drops() or not seen.finished():
            return "not finished"
        if not seen.r("TCPToZeroWindowAdv") or seen.seconds("rwnd") < 0.4 * sum(seen.pauses(seen.receiver)):
            return "the window was never closed for long"
        return truth(must("zero_window"), ["receive_window", "slow_start"], budget={"zero_window": seen.seconds("rwnd")})
    return case("player", rng, p, lines, rng.choice([0.6, 10, 30, 70, 130]), judge, s)


def slow_then_cut(rng):
    """First a server that thinks; then one large transfer, up or down, and the path goes away in the middle of it."""
    p, s, n, think = {}, rng.choice("ab"), rng.randint(9, 15), rng.choice([300, 450, 700])
    mbit, rtt, length = rng.choice([3, 6]), rng.choice([4, 12, 35, 75]), rng.choice([450, 800, 1300])
    big, start = mbit * 250000, n * (think + rtt) + 2 * rtt + rng.randint(500, 900)
    p.update(think_ms=think, outage_ms=length)
    last = (f"w{big} r50", f"r{big} w50") if s == "a" else (f"w150 r{big}", f"r150 w{big}")
    lines = [f"a_script=(w150 r800)*{n} {last[0]} c", f"b_script=(r150 s{think * 1000} w800)*{n} {last[1]} d c", *rate(p, toward(s), mbit)]
    lines += [f"rule={way} packet t={start * 1000}-{(start + length) * 1000} drop" for way in (["ab", "ba"] if rng.random() < 0.5 else [toward(s)])]

    def judge(seen):
        if not seen.drops(seen.dir) or not seen.timeouts(s) or seen.s("TCPSpuriousRTOs") or not seen.finished():
            return "no timeout"
        if thought(seen, "b") < 0.35 * sum(seen.exchanges("a")):
            return "the transfer took longer than the server"
        # Where the ACKs are lost, too, the first segment that is repeated may have arrived.
        either = [] if timeouts(seen) else [[["rto", "spurious_rto"], s]]
        return truth({"slow_server": POINTS, **timeouts(seen)}, ["tail_loss"], one_of=either, budget={"server_thinks": thought(seen, "b")})
    return case("slow-then-cut", rng, p, lines, rtt, judge, s)


def answer_in_two(rng):
    """A proxy's small requests; the server writes head and body of each answer apart, and Nagle's algorithm keeps the body."""
    p, n = {}, rng.randint(10, 45)
    request, head, body = rng.choice([35, 110, 420]), rng.choice([60, 180, 250]), rng.choice([90, 240, 700])
    writes = [head, body] if rng.random() < 0.6 else [head, body // 2, body - body // 2]
    p["requests"] = n
    lines = [f"a_script=(w{request} r{head + body})*{n} c", f"b_script=(r{request} {' '.join(f'w{x}' for x in writes)})*{n} d c"]

    def judge(seen):
        late = seen.count("a", "DelayedACKs")
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if late < max(4, 0.5 * n):
            return "no delayed ACKs"
        return truth(must("delack_nagle"), ["delack_request_response"], budget={"delayed_ack": late * 0.036})
    return case("answer-in-two", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 3, 8, 25]), judge, "b", clothes=False)


def satellite(rng):
    """A file over a geostationary satellite."""
    p, s, rtt, size = {}, rng.choice("abb"), rng.choice([480, 560, 650, 720]), rng.choice([90, 250, 600]) * 1000
    p["bytes"] = size
    lines = [f"{s}_script=w{size} c", f"{other(s)}_script=d c", *rate(p, toward(s), rng.choice([12, 25]))]

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.info(s, "ssthresh") < 2**31 - 1:
            return "not slow start alone"
        if seen.share("rwnd") > 0.1:
            return truth({}, ["slow_start", "receive_window"], one_of=[[["slow_start", "receive_window"], POINTS]])
        return truth(must("slow_start"), budget={"under_way": (n_round_trips(size) - 1) * rtt / 1000})
    return case("satellite", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def jumbo(rng):
    """Jumbo frames vanish on a path of 1500 bytes, until the sender tries smaller ones (packetization-layer MTU probing)."""
    p, s, after = {}, rng.choice("ab"), rng.choice(["", " after"])
    size = rng.choice([30, 80, 200]) * 1000
    lines = [f"{s}_script=(w300 s20000)*4 w{size} c", f"{other(s)}_script=d c", "mtu=9000", f"sysctl_{s}=net.ipv4.tcp_mtu_probing 1", f"rule={toward(s)} data big=1514{after} drop"]
    p["mtu"] = 9000
    if rng.random() < 0.3:
        lines.append("ipv6=1")

    def judge(seen):
        if seen.timeouts(s) < 2 or not seen.finished():
            return "it found no way round"
        return truth({}, ["rto", "black_hole", "tail_loss", "large_missing"], one_of=[[["rto", "black_hole"], s + ("m" if after else "")]])
    return case("jumbo", rng, p, lines, rng.choice([0.5, 4, 18, 50]), judge, s, clothes=False)


def handover(rng):
    """The path becomes much longer from one moment to the next and stays so; nothing is lost."""
    p, s, rtt = {}, rng.choice("abb"), rng.choice([8, 20, 45])
    mbit, start, more = rng.choice([4, 10]), rng.randint(500, 1100), rng.choice([650, 900, 1300])
    way = rng.choice(["ab", "ba"])
    p.update(longer_ms=more, way=way)
    lines = [f"{s}_script=w{int(mbit * 125 * (start + 800))} c", f"{other(s)}_script=d c", f"rule={way} packet t={start * 1000}- delay={more * 1000}", *rate(p, toward(s), mbit, 4000)]

    def judge(seen):
        if seen.drops() or not seen.timeouts(s) or not seen.finished():
            return "no timeout"
        return truth({"spurious_rto": s}, ["rto", "spurious_fast", "reordering", "duplication"])
    return case("handover", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def bonded(rng):
    """Two lines of unequal length carry one connection's packets in turn."""
    p, s, rtt = {}, rng.choice("aab"), rng.choice([15, 30, 70, 200])
    ppm, late = rng.choice([150000, 500000]), rng.choice([1, 2.5, 6])
    p["late_ms"] = late
    lines = [f"{s}_script=w{rng.choice([500, 1000]) * 1000} c", f"{other(s)}_script=d c", f"rule={toward(s)} data n=12 k=1000000 p={ppm} delay={int(late * 1000)}", *rate(p, toward(s), rng.choice([15, 40]))]

    def judge(seen):
        if seen.drops() or seen.timeouts() or seen.r("TCPOFOQueue") < 10 or not seen.finished():
            return "too few were late"
        if seen.s("TCPDSACKRecv") > 1:
            return truth({}, ["reordering", "spurious_fast"], one_of=[[["reordering", "spurious_fast"], POINTS]])
        if p.get("ipv6") and (late < 5 or p.get("timestamps") is False):  # no identification, and no stamps that differ
            return truth(allowed=["reordering", "spurious_fast"])
        return truth({"reordering": "m" + other(s)}, ["reordering", "spurious_fast"])
    return case("bonded", rng, p, lines, rtt, judge, s)


def forgotten(rng):
    """A NAT forgets a connection while it idles: the next request, or the answer to it, goes nowhere."""
    p, n, idle, rtt = {}, rng.randint(2, 6), rng.choice([2500, 5000, 9000]), rng.choice([2, 14, 40, 90])
    ways, after = rng.choice([["ab", "ba"], ["ba"]]), rng.choice(["", " after"])
    talk = rng.choice([120, 900])
    p.update(idle_ms=idle, lost="+".join(ways))
    cut = (n + 2) * rtt + idle // 2
    lines = [f"a_script=(w{talk} r600)*{n} s{idle * 1000} w{talk} r600 c", f"b_script=(r{talk} w600)*{n + 1} d c", f"max={(idle + rng.choice([6000, 14000])) * 1000}"]
    lines += [f"rule={way} packet t={cut * 1000}-{after} drop" for way in ways]

    def judge(seen):
        if seen.timeouts("a") < 3 or seen.finished():
            return "too few timeouts"
        hit = "".join(side for side in "ab" if seen.timeouts(side) >= 3)
        return truth({"black_hole": hit + ("m" if after else "")}, ["black_hole", "rto", "tail_loss", "slow_client", "spurious_rto"])
    return case("forgotten", rng, p, lines, rtt, judge, "a")


def scans(rng):
    """Quiet: a radio looks at other channels now and then; packets wait for some milliseconds and none is lost."""
    p, s, rtt = {}, rng.choice("aab"), rng.choice([30, 60, 110])
    length, every, begin = rng.choice([10, 18, 25]), rng.choice([130, 210, 330]), rng.randint(150, 400)
    mbit = rng.choice([5, 12])
    p.update(wait_ms=length, every_ms=every)
    lines = [f"{s}_script=(p15000 w{mbit * 625})*160 c", f"{other(s)}_script=d c", *rate(p, toward(s), mbit * 4)]
    for i in range(14):
        at = (begin + i * every) * 1000
        lines.append(f"rule={toward(s)} packet t={at}-{at + length * 1000} hold={length * 1000}")

    def judge(seen):
        if len(seen.done("hold")) < 3:
            return "nothing waited"
        return truth() if seen.quiet and seen.finished() else "not quiet"
    return case("scans", rng, p, lines, rtt, judge, s)


def marked(rng):
    """Quiet: ECN works; a queue marks packets and nothing is lost."""
    p, s = {}, rng.choice("ab")
    lines = [f"{s}_script=w{rng.choice([800, 1600]) * 1000} c", f"{other(s)}_script=d c", "sysctl_a=net.ipv4.tcp_ecn 1", f"rule={toward(s)} data n=40 k=1000000 p={rng.choice([12000, 25000])} mark",
             *rate(p, toward(s), rng.choice([20, 45]), 4000)]

    def judge(seen):
        if len(seen.done("mark")) < 2:
            return "nothing was marked"
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(allowed=["slow_start", *(["delack_request_response"] if seen.r("DelayedACKs") else [])])
    return case("marked", rng, p, lines, rng.choice([2, 10, 25]), judge, s)


def two_way(rng):
    """Quiet: both ends write at a pace of their own, and neither answers the other."""
    p, n = {}, rng.randint(20, 60)
    here, there = rng.choice([(25, 40), (33, 20), (120, 70), (16, 200)])
    small = rng.choice([24, 70, 160])
    p["pace_ms"] = [here, there]
    lines = [f"a_script=(p{here * 1000} w{small})*{n} h d c", f"b_script=(p{there * 1000} w{rng.choice([50, 300])})*{n} h d c", "a_nodelay=1", "b_nodelay=1"]

    def judge(seen):
        return truth(allowed=["slow_client", "slow_server"]) if seen.quiet and seen.finished() else "not quiet"
    return case("two-way", rng, p, lines, rng.choice([0.3, 25, 45, 130, 260]), judge, "b")


KINDS = [(wifi, 5), (uplink_deep, 4), (uplink_shallow, 4), (collector, 4), (player, 4), (slow_then_cut, 4), (answer_in_two, 4), (satellite, 4), (jumbo, 4), (handover, 4), (bonded, 4),
         (forgotten, 4), (scans, 4), (marked, 4), (two_way, 4)]
