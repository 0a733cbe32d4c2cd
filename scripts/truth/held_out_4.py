"""Kinds of trouble that nobody who writes detectors looks at before the last measurement: on the path. Do not describe them elsewhere."""

import held_out_4_ends
import held_out_4_quiet
from apps import thought
from case import KERNELS, POINTS, Case, must, other, path, rate, toward, truth
from held_out import experiment
from held_out_2 import case, dress, timeouts
from held_out_3 import lossy
from losses import before


def data_drops(seen, direction):
    """What the link dropped of one direction that carried data."""
    return [h for h in seen.drops(direction) if h[5]]


def behind(p):
    """Where a capture sees that the client's ACKs were lost: IPv6 does not number packets, there they look like a stack's own choice."""
    return "" if p.get("ipv6") else "bm"


def airport(rng):
    """A crowded radio loses packets of both directions alike, while objects are fetched one after the other."""
    p, conns, n = {}, rng.choice([1, 2, 3]), rng.randint(4, 9)
    ppm, size = rng.choice([6000, 10000, 16000]), rng.choice([120, 240, 420]) * 1000
    p.update(loss=f"{ppm / 10000} % each way", bytes=size, connections=conns)
    lines = [f"conns={conns}", "stagger=90000", f"a_script=(w310 r{size})*{n} c", f"b_script=(r310 w{size})*{n} d c", *rate(p, "ba", rng.choice([18, 35, 70]), 4000)]
    lines += [f"rule={way} packet p={ppm} drop" for way in ("ab", "ba")]

    def judge(seen):
        if len(data_drops(seen, "ba")) < 5 or seen.raw["ba"]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", "b", "congestion_loss")
    return case("airport", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([5, 16, 38, 72]), judge, "b", clothes=False)


def cdn(rng):
    """A server with a large initial window: the first flight of each new connection is too much for the line's short queue."""
    p, conns, first = {}, rng.randint(3, 6), rng.choice([30, 40, 60])
    size, queue = rng.choice([70, 130, 260]) * 1000, rng.choice([14, 18, 24])
    p.update(initcwnd=first, bytes=size, connections=conns)
    lines = [f"conns={conns}", f"stagger={rng.choice([350, 800, 1300]) * 1000}", f"a_script=w270 r{size} c", f"b_script=r270 w{size} d c", f"route_initcwnd_b={first}", *rate(p, "ba", rng.choice([8, 16, 30]), queue)]

    def judge(seen):
        if seen.raw["ba"]["queue_drops"] < 6 or not seen.finished():
            return "too few losses"
        return lossy(seen, "congestion_loss", "b", "random_loss")
    return case("cdn", rng, p, lines, rng.choice([14, 28, 55]), judge, "b", clothes=False)


def lanes(rng):
    """An upload fills the short queue of the uplink, in which the ACKs of a download stand, too."""
    p, mbit = {}, rng.choice([1, 2, 3.5])
    up, down = int(mbit * 125000 * rng.choice([4, 6])), int(rng.choice([3, 5]) * 1000000)
    lines = ["conns=2", f"stagger={rng.choice([100, 500]) * 1000}", f"a_script=w120 r{down} c", f"a_script=w{up} c", f"b_script=r120 w{down} d c", "b_script=d c",
             *rate(p, "ba", rng.choice([12, 20]), 4000), *rate(p, "ab", mbit, rng.choice([12, 20, 30]))]

    def judge(seen):
        lost = len(data_drops(seen, "ab"))
        acks = len(seen.drops("ab")) - lost
        if lost < 6 or acks < 20 or not seen.finished():
            return "too few losses"
        t = lossy(seen, "congestion_loss", "a", "random_loss")
        if not isinstance(t, str):
            t["one_of"].append([["ack_loss", "ack_thinning", "bufferbloat"], behind(p)])
        return t
    return case("lanes", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([18, 36, 60]), judge, "a", clothes=False)


def plan(rng):
    """Several downloads at once share what a provider's policer lets through."""
    p, mbit, conns = {}, rng.choice([4, 7, 12]), rng.randint(2, 4)
    burst = rng.choice([25, 60, 110]) * 1000
    size = (burst + mbit * rng.choice([250000, 400000])) // conns
    p.update(policed_mbit=mbit, burst=burst, connections=conns)
    lines = [f"conns={conns}", f"stagger={rng.choice([3, 150]) * 1000}", f"a_script=w230 r{size} c", f"b_script=r230 w{size} d c",
             f"police_ba={mbit * 1000}", f"burst_ba={burst}", f"rate_ba={rng.choice([150, 400]) * 1000}", "queue_ba=4000"]

    def judge(seen):
        if seen.raw["ba"]["policed"] < 15 or seen.raw["ba"]["queue_drops"] or not seen.finished():
            return "too few losses"
        return truth({"policer": POINTS, **timeouts(seen)}, ["congestion_loss", "tail_loss"], never=["random_loss"])
    return case("plan", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([9, 24, 48]), judge, "b", clothes=False)


def train(rng):
    """A train goes through tunnels: again and again nothing passes either way, while data is sent at a pace."""
    p, s, n = {}, rng.choice("aab"), rng.randint(2, 4)
    begin, every, length = rng.randint(700, 1600), rng.choice([3000, 4500]), rng.choice([500, 900, 1700])
    gap, chunk = rng.choice([20, 45]), rng.choice([300, 1400, 6000])
    p.update(outages=n, outage_ms=length)
    lines = [f"{s}_script=(p{gap * 1000} w{chunk})*{(begin + n * every + 1500) // gap} c", f"{other(s)}_script=d c", f"{s}_nodelay=1"]
    lines += [f"rule={way} packet t={(begin + i * every) * 1000}-{(begin + i * every + length) * 1000} drop" for i in range(n) for way in ("ab", "ba")]

    def judge(seen):
        if seen.timeouts(s) < n or len(seen.drops(seen.dir)) < 2 * n or seen.s("TCPSpuriousRTOs") or not seen.finished():
            return "no timeout"
        # Where ACKs are lost, too, the first segment that is repeated may have arrived.
        either = [] if timeouts(seen) else [[["rto", "spurious_rto"], s]]
        return truth(timeouts(seen), ["rto", "tail_loss", "black_hole", "spurious_rto"], one_of=either, never=["congestion_loss"])
    return case("train", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([6, 22, 50, 95]), judge, s, clothes=False)


def knock(rng):
    """Connections of which the very first request is lost."""
    p, conns, n = {}, rng.randint(3, 6), rng.randint(4, 8)
    hits, after = sorted(rng.sample(range(conns), rng.choice([1, 2]))), rng.choice(["", " after"])
    ask = rng.choice([70, 350, 1100])
    p["which"] = hits
    lines = [f"conns={conns}", f"stagger={rng.choice([40, 300, 1200]) * 1000}", f"a_script=(w{ask} r900 s25000)*{n} c", f"b_script=(r{ask} w900)*{n} d c"]
    lines += [f"rule=ab data flow={k} n=1{after} drop" for k in hits]

    def judge(seen):
        if len(seen.drops()) != len(hits) or not seen.finished():
            return "not lost"
        cost = sum(x[0] - sorted(x)[len(x) // 2] for x in (seen.exchanges("a", k) for k in hits))
        return truth({}, ["rto", "tail_loss", "spurious_rto"], never=["congestion_loss"], one_of=[[["rto", "tail_loss"], before("a", after)]], budget={"rto@a": max(0.0, cost - 0.005 * len(hits))})
    return case("knock", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 8, 27, 60]), judge, "a", clothes=False)


def naps(rng):
    """The radio of a receiver sleeps: ACKs wait for longer than the sender's timeout, and none is lost."""
    p, s, rtt = {}, rng.choice("aab"), rng.choice([9, 26, 52])
    mbit, n, length = rng.choice([4, 9]), rng.randint(1, 3), rng.choice([650, 900, 1300]) + 3 * rtt
    begin, every = rng.randint(500, 900), length + rng.choice([700, 1200])
    p.update(nap_ms=length, naps=n)
    lines = [f"{s}_script=w{int(mbit * 125 * (begin + n * 900))} c", f"{other(s)}_script=d c", f"{other(s)}_rcvbuf={rng.choice([40, 70]) * 1000}", *rate(p, toward(s), mbit, 4000)]
    lines += [f"rule={toward(other(s))} packet t={(begin + i * every) * 1000}-{(begin + i * every + length) * 1000} hold={length * 1000}" for i in range(n)]

    def judge(seen):
        if seen.drops() or not seen.timeouts(s) or len(seen.done("hold")) < 3 or not seen.finished():
            return "no timeout"
        return truth({"spurious_rto": s}, ["rto", "spurious_fast", "reordering", "duplication"])
    return case("naps", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def express(rng):
    """A router lets small packets pass before large ones, and a program's writes are of both sorts."""
    p, s, rtt, n = {}, rng.choice("ab"), rng.choice([12, 34, 80, 150]), rng.randint(60, 140)
    late = rng.choice([x for x in [0.6, 2, 5, 12, 30] if x < 0.5 * rtt])
    large, small = rng.choice([2900, 4350, 7300]), rng.choice([60, 200, 500])
    v6 = late >= 5 and rng.random() < 0.5  # with less, IPv6 shows nothing that tells what was late from what was sent again
    p.update(late_ms=late, large=large, small=small, ipv6=v6)
    lines = [f"{s}_script=(p{rng.choice([8, 14, 30]) * 1000} w{large} w{small})*{n} c", f"{other(s)}_script=d c", f"{s}_nodelay=1", f"rule={toward(s)} data big=900 delay={int(late * 1000)}"]

    def judge(seen):
        if seen.drops() or seen.timeouts() or seen.r("TCPOFOQueue") < 10 or not seen.finished():
            return "too few were late"
        if seen.s("TCPDSACKRecv") > 1:
            return truth({}, ["reordering", "spurious_fast"], one_of=[[["reordering", "spurious_fast"], POINTS]])
        return truth({"reordering": "m" + other(s)}, ["reordering", "spurious_fast"])
    return case("express", rng, p, [*lines, *(["ipv6=1"] if v6 else rng.choice([[], [], ["sysctl_b=net.ipv4.tcp_timestamps 0"]]))], rtt, judge, s, clothes=False)


def loop(rng):
    """For some time a loop between two switches doubles what passes, in both directions."""
    p, n, reply, rtt = {}, rng.randint(40, 70), rng.choice([500, 4000, 15000]), rng.choice([0.5, 6, 20, 45])
    begin, length, later = rng.randint(200, 500), int(rng.choice([7, 12, 20]) * (rtt + 20)), rng.choice([30, 150, 900])
    p.update(doubled_ms=length, later_us=later)
    lines = [f"a_script=(w240 r{reply} s20000)*{n} c", f"b_script=(r240 w{reply})*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    lines += [f"rule={way} packet t={begin * 1000}-{(begin + length) * 1000} dup={later}" for way in ("ab", "ba")]

    def judge(seen):
        twice = [sum(1 for h in seen.done("dup", way) if h[5]) for way in ("ab", "ba")]
        if seen.drops() or seen.retrans or min(twice) < 4 or not seen.finished():
            return "too few were doubled"
        return truth({"duplication": POINTS}, ["duplication", "artefacts", "spurious_fast", "reordering"])
    return case("loop", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "b", clothes=False)


def modem(rng):
    """A cable modem sends only some of the ACKs up."""
    p, ppm = {}, rng.choice([600000, 750000, 850000])
    size = rng.choice([2, 4]) * 1000000
    p.update(acks_dropped=f"{ppm / 10000} %", bytes=size)
    lines = [f"a_script=w200 r{size} c", f"b_script=r200 w{size} d c", f"rule=ab ack n=30 k=1000000 p={ppm} drop", *rate(p, "ba", rng.choice([15, 40, 80]), 4000)]

    def judge(seen):
        if len(seen.drops("ab")) < 100 or seen.drops("ba") or not seen.finished():
            return "too few were dropped"
        return truth({}, ["ack_loss", "ack_thinning"], never=[] if seen.retrans else ["random_loss", "congestion_loss"], one_of=[[["ack_loss", "ack_thinning"], behind(p)]])
    return case("modem", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([8, 20, 40]), judge, "b", clothes=False)


GAMER = """host = [{{ name = "client" }}, {{ name = "mid", forward = true }}, {{ name = "edge", forward = true }}, {{ name = "server" }}, {{ name = "far" }}]
link = [
    {{ between = ["client", "mid"], delay = "{near}us" }},
    {{ between = ["mid", "edge"], delay = "{delay}us", b_to_a = {{ rate = "{mbit}mbit", limit = 6000 }} }},
    {{ between = ["edge", "server"], delay = "{delay}us" }},
    {{ between = ["edge", "far"], delay = "{elsewhere}us" }},
]
[run]
log = true
max = "90s"
[[app]]
name = "ours"
kind = "request-response"
request = {request}
response = {response}
pause = "{pause}ms"
duration = "9s"
[[app]]
name = "theirs"
kind = "bulk"
client = "mid"
server = "far"
bytes = {theirs}
reverse = true
connections = {connections}
start = "{start}ms"
"""


def gamer(rng):
    """Small requests and answers of a game, and a neighbour's downloads that stand in the same deep queue."""
    p, mbit, rtt, conns = {}, rng.choice([3, 5, 8]), rng.choice([12, 24, 36]), rng.choice([3, 4, 6])
    p.update(mbit=mbit, rtt_ms=rtt, theirs=conns)
    text = GAMER.format(near=rng.choice([200, 1200]), delay=rtt * 220, elsewhere=rng.choice([2000, 8000]), mbit=mbit, request=rng.choice([40, 90]), response=rng.choice([130, 450, 1100]),
                        pause=rng.choice([16, 33]), theirs=int(mbit * 125000 * 5 / conns), connections=conns, start=rng.choice([900, 2000]))

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.raw["ba"]["longest_wait"] < max(0.15, 4 * rtt / 1000):
            return "the queue stayed short"
        return truth({"bufferbloat": "b"}, ["bufferbloat", "slow_client"])
    return experiment("gamer", rng, p, text, judge)


def tunnel(rng):
    """A tunnel takes no full packets and says nothing: talk and small answers pass, the large answer never does."""
    p, conns, n = {}, rng.randint(2, 3), rng.randint(3, 8)
    after, size, wait = rng.choice(["", " after"]), rng.choice([3000, 9000, 40000]), rng.choice([7, 12])
    p.update(large=size, connections=conns)
    lines = [f"conns={conns}", "stagger=60000", f"max={wait * 1000000}", f"rule=ba data big={rng.choice([1380, 1420, 1470])}{after} drop"]
    lines += [f"a_script=(w130 r420 s40000)*{n} w130 r{size} c", f"b_script=(r130 w420)*{n} r130 w{size} d c", f"a_script=(w130 r420 s150000)*{n * 3} c", f"b_script=(r130 w420)*{n * 3} d c"]
    if rng.random() < 0.3:
        lines.append("ipv6=1")
        p["ipv6"] = True

    def judge(seen):
        if seen.timeouts("b") < 3 or seen.finished():
            return "too few timeouts"
        return truth({"black_hole": before("b", after)}, ["rto", "tail_loss", "no_answer", "slow_server", "artefacts", "large_missing"])
    return case("tunnel", rng, p, lines, rng.choice([3, 15, 45]), judge, "b", clothes=False)


def ecmp(rng):
    """One of several parallel lines dies: the connection that was on it hears nothing more, those beside it go on."""
    p, conns = {}, rng.randint(3, 5)
    dead, cut, after = rng.randrange(conns), rng.randint(900, 2000), rng.choice(["", " after"])
    ways, pause = rng.choice([["ab", "ba"], ["ba"], ["ab"]]), rng.choice([40, 90])
    p.update(dead=dead, ways="+".join(ways))
    n = 5000 // pause
    lines = [f"conns={conns}", "stagger=20000", f"a_script=(w180 r1900 s{pause * 1000})*{n} c", f"b_script=(r180 w1900)*{n} d c", f"max={rng.choice([9, 16]) * 1000000}"]
    lines += [f"rule={way} packet flow={dead} t={cut * 1000}-{after} drop" for way in ways]

    def judge(seen):
        if seen.timeouts() < 3 or seen.finished():
            return "too few timeouts"
        hit = "".join(side for side in "ab" if seen.timeouts(side) >= 3)
        return truth({"black_hole": hit + ("m" if after else "")}, ["black_hole", "rto", "tail_loss", "no_answer", "slow_server", "spurious_rto"])
    return case("ecmp", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([2, 12, 30]), judge, "a", clothes=False)


def shop(rng):
    """A server that thinks about each page, and a path that loses some packets of the pages."""
    p, n, think = {}, rng.randint(6, 10), rng.choice([180, 320, 550])
    size, ppm = rng.choice([90, 160]) * 1000, rng.choice([9000, 14000])
    p.update(think_ms=think, bytes=size, loss=f"{ppm / 10000} %")
    lines = [f"a_script=(w420 r{size})*{n} c", f"b_script=(r420 s{think * 1000} w{size})*{n} d c", f"rule=ba data p={ppm} drop", *rate(p, "ba", 60, 4000)]

    def judge(seen):
        if len(seen.drops()) < 5 or seen.raw["ba"]["queue_drops"] or not seen.finished():
            return "too few losses"
        if thought(seen, "b") < 0.35 * sum(seen.exchanges("a")):
            return "the path took longer than the server"
        t = lossy(seen, "random_loss", "b", "congestion_loss")
        if not isinstance(t, str):
            t["causes"]["slow_server"], t["budget"]["server_thinks"] = POINTS, thought(seen, "b")
        return t
    return case("shop", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([4, 11, 25]), judge, "b", clothes=False)


def ntp(rng):
    """The clock is set back a little while packets of one or more connections are captured."""
    p, conns, n = {"sender": "b"}, rng.choice([1, 3]), rng.randint(60, 120)
    step = rng.choice([-0.08, -0.3, -1.2, -7])
    p.update(step_s=step, connections=conns)
    lines = ["steps=1", f"conns={conns}", "stagger=7000", f"b_script=(p9000 w{rng.choice([140, 700])})*{n} c", "a_script=d c", "b_nodelay=1"]

    def judge(seen):
        return truth(must("clock_step"), ["artefacts", "clock_step", "slow_client", "slow_server"]) if seen.quiet and seen.finished() else "not quiet"
    return Case("ntp", [*lines, *path(rng, p, rng.choice([0.3, 4, 21, 66]))], judge, "b", rng.choice(KERNELS), p, post=("step", step, rng.choice([0.25, 0.45, 0.6])))


KINDS = [(airport, 3), (cdn, 3), (lanes, 3), (plan, 2), (train, 3), (knock, 2), (naps, 3), (express, 3), (loop, 2), (modem, 2), (gamer, 2), (tunnel, 2), (ecmp, 2), (shop, 2), (ntp, 1),
         *held_out_4_ends.KINDS, *held_out_4_quiet.KINDS]
