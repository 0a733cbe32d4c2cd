"""Kinds of trouble that nobody who writes detectors looks at before the last measurement: on the path. Do not describe them elsewhere."""

import held_out_6_ends
import ids
from case import LOSSES, POINTS, must, other, rate, toward, truth
from held_out import experiment, toml
from held_out_2 import case, dress
from held_out_3 import lossy
from held_out_3_ends import late_acks
from held_out_4 import data_drops
from losses import before

ids.ACCEPT.setdefault("path_mtu", ("path_mtu",))

CHAIN = """host = [{{ name = "client"{client} }}, {{ name = "mid", forward = true }}, {{ name = "edge", forward = true }}, {{ name = "server"{server} }}{more} ]
link = [
    {{ between = ["client", "mid"], delay = "{near}us" }},
    {{ between = ["mid", "edge"], delay = "{delay}us", {narrow} }},
    {{ between = ["edge", "server"], delay = "{delay}us" }},{links}
]
[run]
log = true
max = "90s"
[[app]]
name = "ours"
{ours}
"""
FAR = '\n    { between = ["edge", "far"], delay = "4ms" },'
THEIRS = """[[app]]
name = "theirs"
kind = "bulk"
client = "mid"
server = "far"
bytes = {bytes}
reverse = {reverse}
connections = {connections}
start = "{start}ms"
"""


def chain(rng, p, rtt, narrow, ours, theirs="", client="", server=""):
    """Client, two routers and server; the capture between is at the first router, the narrow link behind it. `theirs`: another pair's transfers over the narrow link."""
    p["rtt_ms"] = rtt
    return CHAIN.format(client=client, server=server, more=', { name = "far" }' if theirs else "", near=rng.choice([200, 1000]), delay=rtt * 230, narrow=narrow, links=FAR if theirs else "", ours=ours) + theirs


def blackout(rng):
    """For some seconds the path loses all packets of one way, in the middle of requests and answers."""
    p, conns, n = {}, rng.choice([1, 1, 2, 3]), rng.randint(30, 45)
    way, after = rng.choice(["ba", "ba", "ab"]), rng.choice(["", " after"])
    begin, length, reply = rng.randint(700, 1500), rng.choice([2200, 3500, 6000]), rng.choice([350, 1300, 6000])
    p.update(way=way, outage_ms=length, connections=conns)
    lines = [f"conns={conns}", "stagger=60000", f"a_script=(w210 r{reply} s{rng.choice([25, 45]) * 1000})*{n} c", f"b_script=(r210 w{reply})*{n} d c", f"rule={way} packet t={begin * 1000}-{(begin + length) * 1000}{after} drop"]

    def judge(seen):
        s = "a" if way == "ab" else "b"
        if seen.timeouts(s) < conns or len(data_drops(seen, way)) < 2 * conns or not seen.finished():
            return "no timeout"
        stood = sum(max(seen.exchanges("a", k)) for k in range(conns))
        more = [] if way == "ab" else [[["rto", "spurious_rto", "tail_loss"], "a"]]  # the client cannot tell which way its question was lost
        return truth({"rto": before(s, after)}, ["rto", "tail_loss", "spurious_rto", "spurious_fast", "duplication"], never=["congestion_loss", "random_loss"], one_of=more,
                     budget={f"rto@{s}": max(0.0, 0.9 * stood - conns * 0.3)})
    return case("blackout", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([3, 14, 38, 85]), judge, "a" if way == "ab" else "b", clothes=False)


def keyframes(rng):
    """Live pictures: each second one is large, and too much for a short queue; the small ones between pass well."""
    p, s, mbit = {}, rng.choice("aab"), rng.choice([8, 14, 24])
    queue, big, small = rng.choice([14, 22, 32]), rng.choice([80, 120, 180]) * 1000, rng.choice([1200, 4000])
    p.update(large=big, small=small)
    lines = [f"{s}_script=(p40000 w{big} (p40000 w{small})*24)*{rng.randint(9, 14)} c", f"{other(s)}_script=d c", f"{s}_nodelay=1", f"sysctl_{s}=net.ipv4.tcp_slow_start_after_idle 0", *rate(p, toward(s), mbit, queue)]

    def judge(seen):
        if seen.raw[seen.dir]["queue_drops"] < 8 or not seen.finished():
            return "too few losses"
        t = lossy(seen, "congestion_loss", s, "random_loss")
        if not isinstance(t, str) and queue < 20:
            t["allowed"].append("policer")
        return t
    return case("keyframes", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([8, 22, 45]), judge, s, clothes=False)


def borrowed(rng):
    """A download of one machine, and uploads of another that fill the deep queue of the uplink, in which the download's ACKs stand."""
    p, mbit, rtt, conns = {}, rng.choice([1, 2, 3]), rng.choice([12, 24, 40]), rng.choice([1, 2, 3])
    p.update(mbit=mbit, theirs=conns)
    down = rng.choice([20, 40])
    size = down * 125000 * 3
    text = chain(rng, p, rtt, f'b_to_a = {{ rate = "{down}mbit", limit = 3000 }}, a_to_b = {{ rate = "{mbit}mbit", limit = 6000 }}', f'kind = "bulk"\nbytes = {size}\nreverse = true',
                 THEIRS.format(bytes=int(mbit * 125000 * 10 / conns), reverse="false", connections=conns, start=rng.choice([400, 1200])))

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.raw["ab"]["longest_wait"] < max(0.4, 6 * rtt / 1000):
            return "the queue stayed short"
        if seen.steps("a")[-1][3] - seen.info("a", "opened") < 6:  # three seconds at the line's rate
            return "the download did not wait"
        return truth({"bufferbloat": "b"}, ["bufferbloat", "receive_window", "send_buffer", "slow_start", *late_acks(seen)])
    return experiment("borrowed", rng, p, text, judge)


def fade(rng):
    """A radio becomes slow in the middle of a transfer, or of a film that is sent at its own pace, and the packets wait in its deep queue."""
    p, up, rtt = {}, rng.random() < 0.5, rng.choice([14, 30, 55])
    first, then, at = rng.choice([15, 30]), rng.choice([0.8, 1.5, 2.5]), rng.choice([1500, 3000])
    film = rng.random() < 0.5
    p.update(mbit=then, fades_at_ms=at, film=film)
    up = up and not film  # the kind `stream` goes down
    way = "a_to_b" if up else "b_to_a"
    keys = f'{way} = {{ rate = "{first}mbit", limit = 5000, change = ["{at}ms rate {int(then * 1000)}kbit"] }}'
    if film:
        chunk = int(then * 125 * 40 * rng.choice([1.6, 2.5]))
        ours = f'kind = "stream"\nchunk = {chunk}\nevery = "40ms"\ncount = {(at + 5000) // 40}'
    else:
        ours = f'kind = "bulk"\nbytes = {int(first * 125 * at + then * 125000 * 6)}\nreverse = {"false" if up else "true"}'
    s = "a" if up else "b"

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.info(s, "rtt_us") < 250000 + 3000 * rtt:
            return "the queue stayed short"
        return truth({"bufferbloat": s}, ["bufferbloat", "receive_window", "send_buffer", "slow_start", *late_acks(seen)])
    return experiment("fade", rng, p, chain(rng, p, rtt, keys, ours), judge, s)


def drizzle(rng):
    """A server with BBR, which does not slow down for the packets that a bad line loses."""
    p, up, mbit = {}, rng.random() < 0.4, rng.choice([15, 30, 60])
    loss = rng.choice([0.4, 1, 2])
    p.update(mbit=mbit, loss=f"{loss} %")
    way, s = ("a_to_b", "a") if up else ("b_to_a", "b")
    own = {"client" if up else "server": 'socket = { congestion = "bbr" }'}
    text = toml(rng, p, f'kind = "bulk"\nbytes = {int(rng.choice([12e5, 20e5]) / loss)}\nreverse = {"false" if up else "true"}', far=f'{way} = {{ rate = "{mbit}mbit", limit = 4000, loss = "{loss}%" }}', rtt=rng.choice([8, 20, 44, 90]), **own)

    def judge(seen):
        if seen.raw[seen.dir]["lost"] < 6 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    return experiment("drizzle", rng, p, text, judge, s)


def puddle(rng):
    """A server with BBR before a switch port with little memory."""
    p, up, mbit = {}, rng.random() < 0.4, rng.choice([6, 12, 20])
    conns, limit, rtt = rng.choice([1, 1, 2, 3]), rng.choice([24, 32, 44]), rng.choice([10, 25, 50])
    p.update(mbit=mbit, queue=limit, connections=conns)
    way, s = ("a_to_b", "a") if up else ("b_to_a", "b")
    own = {"client" if up else "server": 'socket = { congestion = "bbr" }'}
    text = toml(rng, p, f'kind = "bulk"\nbytes = {mbit * 125000 * 4 // conns}\nreverse = {"false" if up else "true"}\nconnections = {conns}\nstagger = "300ms"', far=f'{way} = {{ rate = "{mbit}mbit", limit = {limit} }}', rtt=rtt, **own)

    def judge(seen):
        if seen.raw[seen.dir]["queue_drops"] < 8 or not seen.finished():
            return "too few losses"
        t = lossy(seen, "congestion_loss", s, "random_loss")
        if not isinstance(t, str) and seen.s("TCPSlowStartRetrans"):  # a timeout, which SYN-ACKs that were sent again hide in the counters
            t["allowed"].append("rto")
        return t
    return experiment("puddle", rng, p, text, judge, s)


def trains(rng):
    """A card cuts the sender's large segments, and the path loses some of the pieces: the sender's own capture shows segments that no wire carried."""
    p, s, ppm = {}, rng.choice("abb"), rng.choice([5000, 10000, 20000])
    n = rng.choice([1, 4])
    size = int(12e6 / ppm) * 1448 // n
    p.update(loss=f"{ppm / 10000} %", bytes=size, offload=1)
    lines = [f"a_script=({f'w{size} r60' if s == 'a' else f'w60 r{size}'})*{n} c", f"b_script=({f'r{size} w60' if s == 'a' else f'r60 w{size}'})*{n} d c", "offload=1", f"rule={toward(s)} data p={ppm} drop", *rate(p, toward(s), rng.choice([40, 120]), 6000)]

    def judge(seen):
        if len(data_drops(seen, seen.dir)) < 5 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        t = lossy(seen, "random_loss", s, "congestion_loss")
        if not isinstance(t, str):
            t["allowed"].append("artefacts")
        return t
    return case("trains", rng, p, lines, rng.choice([3, 12, 30, 70]), judge, s, clothes=False)


def patient(rng):
    """An administrator raised the least timeout to a second or two and turned probes off, and now and then a lone packet is lost."""
    p, n, s, floor = {}, rng.randint(8, 16), rng.choice("ab"), rng.choice([1000, 1500, 2200])
    hits, after, reply = sorted(rng.sample(range(3, n), rng.choice([1, 2, 3]))), rng.choice(["", " after"]), rng.choice([120, 700, 1300])
    p.update(rto_min_ms=floor, which=hits, sender=s)
    size = reply if s == "b" else 190
    lines = [f"a_script=(w190 r{reply} s{rng.choice([20, 70]) * 1000})*{n} c", f"b_script=(r190 w{reply})*{n} d c", *(f"route_rto_min_{x}={floor}" for x in "ab"), *(f"sysctl_{x}=net.ipv4.tcp_early_retrans 0" for x in "ab")]
    lines += [f"rule={toward(s)} data seq={h * size}-{(h + 1) * size} m=1{after} drop" for h in hits]

    def judge(seen):
        if len(seen.drops()) != len(hits) or seen.timeouts(s) < len(hits) or not seen.finished():
            return "no timeout"
        times = seen.exchanges("a")
        cost = sum(times) - len(times) * sorted(times)[len(times) // 2]
        return truth({}, ["rto", "tail_loss", "spurious_rto", "spurious_fast", "duplication"], never=["congestion_loss"], one_of=[[["rto", "tail_loss"], before(s, after)]], budget={f"rto@{s}": max(0.0, cost - 0.01)})
    return case("patient", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([1, 12, 35, 80]), judge, s, clothes=False)


def moon(rng):
    """Two satellites on the way: the answer to a SYN takes longer than the timer of the SYN."""
    p, conns, n = {}, rng.choice([1, 1, 2]), rng.randint(2, 5)
    reply = rng.choice([200, 3000, 9000])
    p.update(connections=conns, requests=n)
    lines = [f"conns={conns}", "stagger=200000", f"a_script=(w160 r{reply})*{n} c", f"b_script=(r160 w{reply})*{n} d c", "max=90000000"]

    def judge(seen):
        if seen.drops() or not seen.count("a", "TCPSynRetrans") or not seen.finished():
            return "no SYN was sent again"
        return truth({"syn_retries": POINTS}, ["slow_start", "spurious_rto", "rto", "spurious_fast", "duplication", "delack_request_response"])
    return case("moon", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([1150, 1400, 1900]), judge, "b", clothes=False)


def mislaid(rng):
    """A program reads again after a pause, and the packet that says so is lost: the sender has to ask."""
    p, s, cap = {}, rng.choice("aab"), rng.choice([9, 20, 40]) * 1000
    wakes, after, rtt = rng.choice([1300, 2600, 5000]), rng.choice(["", " after"]), rng.choice([0.6, 9, 30, 70])
    p.update(wakes_ms=wakes, buffer=cap)
    o, begin = other(s), wakes - 5
    lines = [f"{s}_script=w{cap * 8} c", f"{o}_script=p{wakes * 1000} d c", f"{o}_rcvbuf={cap}", f"rule={toward(o)} ack t={begin * 1000}-{int((wakes + 2.5 * rtt + 20) * 1000)}{after} drop"]

    def judge(seen):
        if not seen.drops(toward(o)) or not seen.r("TCPToZeroWindowAdv") or not seen.finished():
            return "no update was lost"
        if seen.seconds("rwnd") < 0.9 * wakes / 1000:
            return "the window was not closed for long"
        return truth(must("zero_window"), ["receive_window", "slow_start", "ack_loss", *late_acks(seen)], never=["random_loss", "congestion_loss"], budget={f"zero_window@{s}": 0.9 * seen.seconds("rwnd")})
    return case("mislaid", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def surrender(rng):
    """A program gives up after some seconds without an ACK, and opens a connection again, when the path is well."""
    p, patience, gap = {}, rng.choice([2500, 4000, 6000]), rng.choice([30, 80])
    begin, chunk, after = rng.randint(600, 1400), rng.choice([300, 5000]), rng.choice(["", " after"])
    well = begin + patience + 2500
    p.update(user_timeout_ms=patience)
    lines = ["conns=2", f"stagger={(well + 300) * 1000}", f"a_script=(w{chunk} s{gap * 1000})*400 c", f"a_script=(w{chunk} s{gap * 1000})*30 c", "b_script=d c", f"a_user_timeout_ms={patience}", "a_nodelay=1",
             f"rule=ab packet t={begin * 1000}-{well * 1000}{after} drop", f"rule=ba packet t={begin * 1000}-{well * 1000} drop", f"max={(well + 8000) * 1000}"]

    def judge(seen):
        if seen.info("a", "error", 0) != 110 or seen.timeouts("a") < 3 or seen.info("a", "error", 1) or not seen.info("a", "done", 1):
            return "it did not give up"
        words = ["black_hole"] if seen.s("TcpRetransSegs") - seen.s("TCPLossProbes") > 3 else ["black_hole", "rto"]
        return truth({}, ["rto", "tail_loss", "reset"], never=["congestion_loss", "random_loss"], one_of=[[words, before("a", after)]])
    return case("surrender", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([2, 15, 40]), judge, "a", clothes=False)


def narrow(rng):
    """A tunnel on the way takes less than a full packet, and its router says so."""
    p, up, mtu, rtt = {}, rng.random() < 0.5, rng.choice([1280, 1360, 1420]), rng.choice([6, 20, 50])
    p["mtu"], (s, n) = mtu, ("a", 1) if up else ("b", rng.choice([1, 2]))
    text = chain(rng, p, rtt, f"mtu = {mtu}", f'kind = "bulk"\nbytes = {rng.choice([60, 300, 900]) * 1000}\nreverse = {"false" if up else "true"}\nconnections = {n}\nstagger = "40ms"')

    def judge(seen):
        if seen.s("IcmpInDestUnreachs") < 1 or not seen.s("TcpRetransSegs") or not seen.finished():
            return "no message came"
        return truth({"path_mtu": "am" if up else "b"}, ["path_mtu", "slow_start", "rto", "tail_loss"], never=["congestion_loss", "random_loss"])
    return experiment("narrow", rng, p, text, judge, s)


def clamped(rng):
    """A box on the way makes the MSS of all connections much smaller than the path is."""
    p, up, mss = {}, rng.random() < 0.5, rng.choice([536, 800, 1100])
    p["mss"] = mss
    text = toml(rng, p, f'kind = "bulk"\nbytes = {rng.choice([100, 400]) * 1000}\nreverse = {"false" if up else "true"}', far=f'middlebox = ["set-mss {mss}"]', rtt=rng.choice([4, 15, 40]))

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth({"small_mss": "am" if up else "b"}, ["small_mss", "slow_start", *late_acks(seen)])  # the box is behind the router
    return experiment("clamped", rng, p, text, judge, "a" if up else "b")


def detour(rng):
    """Quiet: requests and answers, and from one moment on the path is longer: no queue, no loss, no timeout."""
    p, rtt, more = {}, rng.choice([12, 25, 50]), rng.choice([40, 80, 130])
    at, pause, reply, ways = rng.randint(1200, 2500), rng.choice([15, 40]), rng.choice([200, 900, 2600]), rng.choice([["ab"], ["ba"], ["ab", "ba"]])
    n = at // (rtt + pause) + rng.randint(25, 50)
    p.update(longer_ms=more, ways="+".join(ways))
    lines = [f"a_script=(w230 r{reply} s{pause * 1000})*{n} c", f"b_script=(r230 w{reply})*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    lines += [f"rule={way} packet t={at * 1000}- delay={more * 1000 // len(ways)}" for way in ways]

    def judge(seen):
        if seen.drops() or seen.timeouts() or not seen.finished() or len(seen.done("delay")) < 20:  # a probe that comes too soon is the kernel's own affair
            return "not quiet"
        return truth(allowed=["slow_client"], never=["bufferbloat"])
    return case("detour", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "b", clothes=False)


def parrot(rng):
    """Quiet: a switch sends many pure ACKs twice; the data comes once."""
    p, s, ppm, later = {}, rng.choice("abb"), rng.choice([50000, 200000, 600000]), rng.choice([20, 300, 3000])
    size = rng.choice([600, 1500]) * 1000
    p.update(doubled=f"{ppm / 10000} %", bytes=size)
    lines = [f"{s}_script=w{size} c", f"{other(s)}_script=d c", f"rule={toward(other(s))} ack n=5 k=1000000 p={ppm} dup={later}", *rate(p, toward(s), rng.choice([20, 60]), 4000)]

    def judge(seen):
        if len(seen.done("dup")) < 10 or not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(allowed=["duplication", "artefacts", "slow_start", "receive_window", *late_acks(seen)])
    return case("parrot", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([4, 15, 35]), judge, s, clothes=False)


def stamps(rng):
    """Quiet: a queue that marks packets instead of losing them, and ends that know ECN."""
    p, mbit, up = {}, rng.choice([8, 15, 30]), rng.random() < 0.4
    p["qdisc"] = rng.choice(["fq_codel limit 4000 ecn", "codel limit 4000 ecn", "cake bandwidth BWmbit besteffort"]).replace("BW", str(mbit))
    keys = f'{"a_to_b" if up else "b_to_a"} = {{ qdisc = "{p["qdisc"]}", rate = "{mbit if "codel" in p["qdisc"] else 200}mbit" }}'
    ecn = 'sysctl = { "net.ipv4.tcp_ecn" = 1 }'
    text = toml(rng, p, f'kind = "bulk"\nbytes = {mbit * 125000 * 4}\nreverse = {"false" if up else "true"}', far=keys, rtt=rng.choice([10, 25, 50]), client=ecn, server=ecn)

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.r("IpExtInCEPkts") < 2:
            return "not quiet"
        return truth(allowed=["slow_start", "bufferbloat", *late_acks(seen)])
    return experiment("stamps", rng, p, text, judge, "a" if up else "b")


def polite(rng):
    """Quiet: somebody else's downloads fill the line, and a fair queue lets small answers pass at once."""
    p, mbit, rtt, conns = {}, rng.choice([5, 10, 20]), rng.choice([14, 30]), rng.choice([2, 4])
    p["theirs"] = conns
    text = chain(rng, p, rtt, f'b_to_a = {{ qdisc = "fq_codel", rate = "{mbit}mbit" }}', f'kind = "request-response"\nrequest = {rng.choice([60, 200])}\nresponse = {rng.choice([150, 800, 1300])}\npause = "{rng.choice([18, 35])}ms"\nduration = "7s"',
                 THEIRS.format(bytes=int(mbit * 125000 * 4 / conns), reverse="true", connections=conns, start=900))

    def judge(seen):
        if seen.retrans or not seen.finished() or not seen.raw["ba"]["dropped"] or max(seen.exchanges("a")) > 0.03 + 1.5 * rtt / 1000:
            return "not quiet"
        return truth(allowed=["slow_client"], never=[*LOSSES, "tail_loss", "bufferbloat"])
    return experiment("polite", rng, p, text, judge)


KINDS = [(blackout, 6), (keyframes, 4), (borrowed, 4), (fade, 6), (drizzle, 6), (puddle, 4), (trains, 4), (patient, 4), (moon, 2), (mislaid, 4), (surrender, 4), (narrow, 4), (clamped, 2), (detour, 6), (parrot, 4),
         (stamps, 4), (polite, 4), *held_out_6_ends.KINDS]
