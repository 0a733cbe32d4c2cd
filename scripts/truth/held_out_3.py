"""Kinds of trouble on the path, of many more shapes. They were held out once; the detectors' authors may have read them since."""

import held_out_3_ends
from case import LOSSES, POINTS, must, other, rate, toward, truth
from held_out import experiment, toml
from held_out_2 import case, dress, timeouts


def lossy(seen, name, sender, never):
    """The truth of losses of one kind; where timeouts repaired most of them, the timeouts may be all that is named."""
    repairs = seen.s("TCPSackRecovery") + seen.s("TCPRenoRecovery")
    if repairs + seen.timeouts(sender) < 2:
        return "too few losses"
    if repairs >= seen.timeouts(sender) and not seen.s("TCPSpuriousRTOs"):
        return truth({**must(name), **timeouts(seen)}, ["tail_loss"], never=[never])
    return truth(timeouts(seen), [name, "tail_loss"], never=[never], one_of=[[[name, "rto", "tail_loss"], sender]])


def app(rng, size, up, connections=1):
    """Transfers of `tcplab run`."""
    more = f'\nconnections = {connections}\nstagger = "{rng.choice([5, 80])}ms"' if connections > 1 else ""
    return f'kind = "bulk"\nbytes = {size}\nreverse = {"false" if up else "true"}{more}'


def plain(rng, p):
    """A client without time stamps, now and then."""
    if rng.random() < 0.25:
        p["timestamps"] = False
        return {"client": 'sysctl = { "net.ipv4.tcp_timestamps" = 0 }'}
    return {}


def shower(rng):
    """Rain on a radio link: packets wait for a random time, and some of a few in a row are lost."""
    p, up, mbit = {}, rng.random() < 0.4, rng.choice([12, 25, 45])
    p.update(mbit=mbit, burst=rng.choice(["0.3% 25% 60%", "0.5% 35% 70%", "0.8% 50% 80%"]), jitter_ms=rng.choice([0.3, 1, 3]))
    keys = f'{"a_to_b" if up else "b_to_a"} = {{ burst_loss = "{p["burst"]}", exponential_jitter = "{int(p["jitter_ms"] * 1000)}us", rate = "{mbit}mbit", limit = 4000 }}'
    text = toml(rng, p, app(rng, rng.choice([1800, 3000]) * 1000, up, rng.choice([1, 1, 2])), far=keys, rtt=rng.choice([4, 12, 28, 55]), **plain(rng, p))
    s = "a" if up else "b"

    def judge(seen):
        way = seen.raw[seen.dir]
        if way["lost"] < 5 or way["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    return experiment("shower", rng, p, text, judge, s)


def optics(rng):
    """A dirty plug: one packet of some hundreds is lost, at full speed and far from any full queue."""
    p, s, ppm = {}, rng.choice("aab"), rng.choice([2000, 3500, 6000])
    conns = rng.choice([1, 1, 2])
    size = int(14e6 / ppm) * 1448
    p.update(loss=f"{ppm / 10000} %", connections=conns)
    lines = [f"conns={conns}", f"{s}_script=w{size // conns} c", f"{other(s)}_script=d c", f"rule={toward(s)} data p={ppm} drop", *rate(p, toward(s), rng.choice([60, 100, 200]), 4000)]
    if rng.random() < 0.15:
        lines.append("sysctl_b=net.ipv4.tcp_sack 0")
        p["sack"] = False

    def judge(seen):
        if len(seen.drops()) < 5 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return lossy(seen, "random_loss", s, "congestion_loss")
    rtt = rng.choice([2, 9, 22, 48, 95])
    if size * (1500 / 1448) * 8 / (p["mbit"] * 1e6) < 3 * rtt / 1000:
        rtt = 9
    return case("optics", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


NEIGHBOURS = """host = [{{ name = "client" }}, {{ name = "mid", forward = true }}, {{ name = "edge", forward = true }}, {{ name = "server" }}, {{ name = "far" }}]
link = [
    {{ between = ["client", "mid"], delay = "{near}us" }},
    {{ between = ["mid", "edge"], delay = "{delay}us", b_to_a = {{ rate = "{mbit}mbit", limit = {limit} }} }},
    {{ between = ["edge", "server"], delay = "{delay}us" }},
    {{ between = ["edge", "far"], delay = "{elsewhere}us" }},
]
[run]
log = true
max = "90s"
[[app]]
name = "ours"
{ours}
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


def neighbour(rng):
    """Somebody else's downloads fill the queue that a stream or a download goes through."""
    p, mbit = {}, rng.choice([6, 10, 18])
    rtt, limit = rng.choice([8, 20, 45]), rng.choice([30, 50, 80])
    p.update(mbit=mbit, rtt_ms=rtt, queue=limit)
    seconds = rng.choice([5, 6])
    every = rng.choice([20, 40])
    chunk = int(mbit * 125 * every * rng.choice([0.25, 0.4]))
    ours = f'kind = "stream"\nchunk = {chunk}\nevery = "{every}ms"\ncount = {seconds * 1000 // every}' if rng.random() < 0.5 else app(rng, int(mbit * 125000 * seconds * 0.4), False)
    text = NEIGHBOURS.format(near=rng.choice([100, 1500]), delay=rtt * 220, elsewhere=rng.choice([500, 4000, 12000]), mbit=mbit, limit=limit, ours=ours, theirs=int(mbit * 125000 * seconds / 3),
                             connections=rng.choice([2, 3, 4]), start=rng.choice([0, 300, 1200]))

    def judge(seen):
        if seen.s("TcpRetransSegs") < 5 or seen.raw["ba"]["queue_drops"] < 5 or not seen.finished():
            return "too few losses"
        return lossy(seen, "congestion_loss", "b", "random_loss")
    return experiment("neighbour", rng, p, text, judge)


def incast(rng):
    """A rack of answers at once, into a switch port with a few dozen packets of memory."""
    p, conns, rounds = {}, rng.choice([6, 10, 16]), rng.randint(4, 8)
    block, queue = rng.choice([24, 48, 96]) * 1024, rng.choice([24, 40, 64])
    p.update(connections=conns, block=block, rounds=rounds)
    lines = [f"conns={conns}", f"a_script=(p{rng.choice([300, 600]) * 1000} w120 r{block})*{rounds} c", f"b_script=(r120 w{block})*{rounds} d c", *rate(p, "ba", rng.choice([200, 500, 1000]), queue)]

    def judge(seen):
        if seen.raw["ba"]["queue_drops"] < 8 or not seen.finished():
            return "too few losses"
        return lossy(seen, "congestion_loss", "b", "random_loss")
    return case("incast", rng, p, lines, rng.choice([0.2, 0.4, 1]), judge, "b")


def policed(rng):
    """Pieces of a film through a policer with a large bucket, or a transfer through one with a very small bucket."""
    p, mbit = {}, rng.choice([3, 6, 10])
    large = rng.random() < 0.6
    burst = rng.choice([80, 150, 250]) * 1000 if large else rng.choice([9, 12]) * 1000
    s = "b" if large else rng.choice("ab")
    p.update(policed_mbit=mbit, burst=burst)
    size = burst + mbit * rng.choice([200000, 300000])
    if large:
        n = rng.randint(2, 3)
        lines = [f"a_script=(w200 r{size} s{rng.choice([400, 1500]) * 1000})*{n} c", f"b_script=(r200 w{size})*{n} d c"]
    else:
        lines = [f"{s}_script=w{size} c", f"{other(s)}_script=d c"]
    lines += [f"police_{toward(s)}={mbit * 1000}", f"burst_{toward(s)}={burst}", f"rate_{toward(s)}={rng.choice([100, 300]) * 1000}", f"queue_{toward(s)}=4000"]

    def judge(seen):
        if seen.raw[seen.dir]["policed"] < 15 or seen.raw[seen.dir]["queue_drops"] or not seen.finished():
            return "too few losses"
        return truth({"policer": POINTS, **timeouts(seen)}, ["congestion_loss", "tail_loss", "window_after_idle"], never=["random_loss"])
    return case("policed", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([6, 14, 32, 60]), judge, s, clothes=False)


def active(rng):
    """RED or CAKE on the narrow line; uploads and downloads of one or more connections."""
    p, up, mbit = {}, rng.random() < 0.5, rng.choice([4, 8, 16])
    way = "a_to_b" if up else "b_to_a"
    red = rng.random() < 0.5
    limit = mbit * 1000 * 12
    qdisc = f"red limit {limit} min {limit // 12} max {limit // 4} avpkt 1000 burst {limit // 12 // 1000 + limit // 24000 + 1} probability {rng.choice([0.04, 0.1])}" if red else f"cake bandwidth {mbit}mbit besteffort"
    p.update(qdisc=qdisc.split()[0], line_mbit=mbit)
    keys = f'{way} = {{ qdisc = "{qdisc}", rate = "{mbit if red else 100}mbit" }}'
    connections = rng.choice([1, 2, 4])
    text = toml(rng, p, app(rng, mbit * 125000 * rng.choice([4, 6]) // connections, up, connections), far=keys, rtt=rng.choice([12, 26, 50]), **plain(rng, p))
    s = "a" if up else "b"

    def judge(seen):
        if seen.raw[seen.dir]["dropped"] < 5 or not seen.finished():
            return "too few losses"
        return truth(timeouts(seen), [*LOSSES, "tail_loss", "bufferbloat"], one_of=[[["congestion_loss", "random_loss"], POINTS]])
    return experiment("active", rng, p, text, judge, s)


def swallowed(rng):
    """A whole answer is lost, and what the sender tries first after it."""
    p, n, k, extra = {}, rng.randint(7, 14), rng.randint(2, 8), rng.choice([1, 1, 2, 3])
    s, after = rng.choice("bba"), rng.choice(["", " after"])
    size, hits = k * 1300, sorted(rng.sample(range(3, n), rng.choice([1, 1, 2])))
    p.update(segments=k, extra=extra, which=hits)
    asks, says = f"w180 r{size}", f"r180 w{size}"
    lines = [f"a_script=({asks if s == 'b' else f'w{size} r180'} s{rng.choice([10, 120]) * 1000})*{n} c", f"b_script=({says if s == 'b' else f'r{size} w180'})*{n} d c"]
    lines += [f"rule={toward(s)} data seq={h * size}-{(h + 1) * size} m={k + extra}{after} drop" for h in hits]
    for key, line, share in (("ipv6", "ipv6=1", 0.3), ("timestamps", "sysctl_b=net.ipv4.tcp_timestamps 0", 0.2), ("sack", "sysctl_a=net.ipv4.tcp_sack 0", 0.15)):
        if rng.random() < share:
            lines.append(line)
            p[key] = key == "ipv6"

    def judge(seen):
        if len(seen.drops()) != len(hits) * (k + extra) or not timeouts(seen) or not seen.finished():
            return "no timeout"
        times = seen.exchanges("a")
        cost = sum(times) - len(times) * sorted(times)[len(times) // 2]
        # The other end's last words were not acknowledged, either: its timer sends them again in vain.
        vain = ["spurious_rto", "spurious_fast", "duplication"] if seen.count(other(s), "TcpRetransSegs") else []
        return truth({"rto": s + ("m" if after else "")}, ["rto", "tail_loss", *vain], never=["congestion_loss"], budget={f"recovery@{s}": max(0.0, cost - len(hits) * (0.06 + 3 * p["rtt_ms"] / 1000))})
    return case("swallowed", rng, p, lines, rng.choice([0.3, 3, 14, 35, 90, 180]), judge, s, clothes=False)


def promotion(rng):
    """A telephone's radio sleeps between requests and needs a second to wake up; no packet is lost."""
    p, n, idle = {}, rng.randint(4, 7), rng.choice([5, 8, 12]) * 1000
    rtt, asleep = rng.choice([35, 60, 110]), rng.choice([1100, 1500, 2100])
    request, slow = rng.choice([180, 900, 2500]), sorted(rng.sample(range(2, n + 1), rng.choice([1, 2])))
    p.update(idle_ms=idle, wakes_in_ms=asleep, which=slow)
    lines = [f"a_script=(p{idle * 1000} w{request} r4000)*{n} c", f"b_script=(r{request} w4000)*{n} d c", "max=150000000"]
    lines += [f"rule=ab packet t={(k * idle + rtt - 60) * 1000}-{(k * idle + rtt - 60 + asleep) * 1000} hold={asleep * 1000}" for k in slow]

    def judge(seen):
        if seen.drops() or not seen.timeouts("a") or len(seen.done("hold")) < 2 or not seen.finished():
            return "no timeout"
        return truth({"spurious_rto": "a"}, ["rto", "spurious_fast", "reordering", "duplication", "slow_client", "tail_loss"])
    return case("promotion", rng, p, lines, rtt, judge, "a")


def flap(rng):
    """The route changes between a long and a short way again and again, and what comes by the short one overtakes."""
    p, s, rtt = {}, rng.choice("abb"), rng.choice([10, 25, 60, 140])
    late, every = rng.choice([x for x in [2, 6, 14, 30, 60] if x < 1.1 * rtt]), rng.choice([130, 240])
    mbit, n, begin = rng.choice([12, 30]), rng.randint(8, 12), int(5 * rtt + rng.randint(40, 150))
    width = rng.choice([20, every // 2])
    p.update(late_ms=late, changes=2 * n)
    lines = [f"{s}_script=w{int(mbit * 125 * (begin + n * every))} c", f"{other(s)}_script=d c", *rate(p, toward(s), mbit, 4000)]
    lines += [f"rule={toward(s)} data t={(begin + i * every) * 1000}-{(begin + i * every + width) * 1000} delay={late * 1000}" for i in range(n)]

    def judge(seen):
        if seen.drops() or seen.timeouts() or seen.r("TCPOFOQueue") < 10 or not seen.finished():
            return "too few were late"
        if seen.s("TCPDSACKRecv") > 1:
            return truth({}, ["reordering", "spurious_fast"], one_of=[[["reordering", "spurious_fast"], POINTS]])
        if p.get("ipv6") and (late < 5 or p.get("timestamps") is False):  # no identification, and no stamps that differ
            return truth(allowed=["reordering", "spurious_fast"])
        return truth({"reordering": "m" + other(s)}, ["reordering", "spurious_fast"])
    return case("flap", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


KINDS = [(shower, 4), (optics, 4), (neighbour, 4), (incast, 4), (policed, 4), (active, 4), (swallowed, 4), (promotion, 4), (flap, 4), *held_out_3_ends.KINDS]
