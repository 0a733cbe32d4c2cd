"""The kinds of held_out_5 that queues, handshakes and ends make, and the quiet ones. Do not describe them elsewhere."""

from case import must, other, rate, toward, truth
from held_out import experiment
from held_out_2 import case, dress, timeouts
from held_out_3 import lossy
from held_out_3_ends import late_acks
from held_out_4_quiet import calm

MEETING = """host = [{{ name = "client" }}, {{ name = "mid", forward = true }}, {{ name = "edge", forward = true }}, {{ name = "server" }}, {{ name = "far" }}]
link = [
    {{ between = ["client", "mid"], delay = "{near}us" }},
    {{ between = ["mid", "edge"], delay = "{delay}us", a_to_b = {{ rate = "{mbit}mbit", limit = 6000 }} }},
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
duration = "{seconds}s"
[[app]]
name = "theirs"
kind = "bulk"
client = "mid"
server = "far"
bytes = {theirs}
connections = {connections}
start = "{start}ms"
"""


def meeting(rng):
    """Somebody in the house sends a film up, and what is said in a meeting stands behind it in the modem's deep queue."""
    p, mbit, rtt, conns = {}, rng.choice([1.5, 2.5, 4]), rng.choice([10, 22, 38]), rng.choice([1, 2, 3])
    p.update(mbit=mbit, rtt_ms=rtt, theirs=conns)
    text = MEETING.format(near=rng.choice([300, 1500]), delay=rtt * 220, elsewhere=rng.choice([3000, 9000]), mbit=mbit, request=rng.choice([180, 600, 1200]), response=rng.choice([90, 700]),
                          pause=rng.choice([20, 40]), seconds=rng.choice([9, 11]), theirs=int(mbit * 125000 * rng.choice([4.5, 6]) / conns), connections=conns, start=rng.choice([1200, 2500]))

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.raw["ab"]["longest_wait"] < max(0.2, 4 * rtt / 1000):
            return "the queue stayed short"
        if sum(1 for x in seen.exchanges("a") if x > 0.1 + 3 * rtt / 1000) < 5:
            return "the meeting did not wait"
        return truth({"bufferbloat": "a"}, ["bufferbloat", "slow_client"])
    return experiment("meeting", rng, p, text, judge, "a")


def lte(rng):
    """Files of a telephone, two or three at once, fill the deep queue of the radio by themselves: up or down."""
    p, s, mbit, rtt, conns = {}, rng.choice("abb"), rng.choice([2, 3.5, 6]), rng.choice([32, 45, 60]), rng.choice([1, 2, 2, 3])
    size = int(mbit * 125000 * rng.choice([9, 12])) // conns
    p.update(bytes=size, connections=conns)
    lines = [f"a_script=w{size} r10 c", f"b_script=r{size} w10 d c"] if s == "a" else [f"a_script=w150 r{size} w10 c", f"b_script=r150 w{size} r10 d c"]
    lines += [f"conns={conns}", f"stagger={rng.choice([20, 900]) * 1000}", *rate(p, toward(s), mbit, 6000)]

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.raw[seen.dir]["longest_wait"] < max(0.2, 3.5 * rtt / 1000):
            return "the queue stayed short"
        if any(seen.info(s, "rtt_us", k) < 2000 * rtt for k in range(conns)):  # at the end, smoothed
            return "a sender did not see it"
        return truth({"bufferbloat": s}, ["receive_window", "send_buffer"])
    return case("lte", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def office(rng):
    """Several machines' backups meet at a switch port with some dozens of packets of memory, and stay there."""
    p, conns, mbit = {}, rng.randint(2, 4), rng.choice([8, 14, 24])
    size, queue = int(mbit * 125000 * rng.choice([3, 4])) // conns, rng.choice([22, 34, 50])
    p.update(bytes=size, connections=conns)
    lines = [f"conns={conns}", f"stagger={rng.choice([30, 400]) * 1000}", f"a_script=(w{size // 2} r20)*2 c", f"b_script=(r{size // 2} w20)*2 d c", *rate(p, "ab", mbit, queue)]

    def judge(seen):
        if seen.raw["ab"]["queue_drops"] < 8 or len({h[3] for h in seen.drops("ab") if h[5]}) < 2 or not seen.finished():
            return "too few losses"
        return lossy(seen, "congestion_loss", "a", "random_loss")
    return case("office", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([4, 12, 25, 45]), judge, "a", clothes=False)


def limiter(rng):
    """While it feels flooded, a firewall lets only some of the SYNs pass, repeated ones not always either; what is open works well."""
    p, conns, n = {}, rng.randint(14, 24), rng.randint(1, 4)
    after, ppm = rng.choice(["", " after"]), rng.choice([350000, 500000])
    stagger = rng.choice([15, 120, 500])
    p.update(connections=conns, dropped=f"{ppm / 10000} %")
    lines = [f"conns={conns}", f"stagger={stagger * 1000}", f"a_script=(w170 r840)*{n} c", f"b_script=(r170 w840)*{n} d c", f"rule=ab syn t=0-{(conns * stagger + 2500) * 1000} p={ppm}{after} drop"]

    def judge(seen):
        if len(seen.drops()) < 3 or any(not h[6] & 2 for h in seen.drops()) or seen.count("a", "TCPSynRetrans") < len(seen.drops()) or not seen.finished():
            return "too few SYNs were lost"
        return truth({"syn_retries": "a" + ("m" if after else "")}, ["syn_retries"])
    return case("limiter", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.6, 12, 35, 90]), judge, "a", clothes=False)


def consumer(rng):
    """A program takes messages from a queue and stands still for seconds now and then, while the messages come at their pace."""
    p, s, conns = {}, rng.choice("bba"), rng.choice([1, 1, 2])
    every, message, buffer = rng.choice([10, 25]), rng.choice([900, 1800, 4000]), rng.choice([6, 12, 20]) * 1000
    pause, times, some = rng.choice([1200, 2500, 5000]), rng.randint(2, 3), rng.randint(15, 40)
    least = 3 * buffer // message * every * 2  # the window must be full well before the pause ends
    pause = max(pause, least)
    each = some + pause // every
    p.update(pause_ms=pause, message=message, buffer=buffer, connections=conns)
    lines = [f"conns={conns}", "stagger=300000", f"{s}_script=(p{every * 1000} w{message})*{each * times} c", f"{other(s)}_script=(r{message * some} s{pause * 1000})*{times} d c", f"{other(s)}_rcvbuf={buffer}",
             "max=150000000"]

    def judge(seen):
        if seen.drops() or not seen.finished():
            return "not finished"
        if seen.r("TCPToZeroWindowAdv") < conns or any(seen.info(s, "rwnd_limited_us", k) / 1e6 < 0.3 * sum(seen.pauses(seen.receiver, k)) for k in range(conns)):
            return "the window was not closed for long"
        return truth(must("zero_window"), ["receive_window", *late_acks(seen)], budget={"zero_window": 0.9 * sum(seen.info(s, "rwnd_limited_us", k) for k in range(conns)) / 1e6})
    return case("consumer", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.5, 6, 22, 60]), judge, s, clothes=False)


def stubborn(rng):
    """A line damages one pattern of bits: the packet that has it is lost as often as it is sent, until it happens to go another way."""
    p, s, n = {}, rng.choice("ab"), rng.randint(6, 10)
    size, times, after = rng.choice([12, 30, 60]) * 1000, rng.choice([3, 4]), rng.choice(["", " after"])
    hits = sorted(rng.sample(range(2, n), rng.choice([1, 1, 2])))
    p.update(bytes=size, which=hits, times=times)
    lines = [f"a_script=({f'w{size} r70' if s == 'a' else f'w70 r{size}'} s20000)*{n} c", f"b_script=({f'r{size} w70' if s == 'a' else f'r70 w{size}'})*{n} d c", *rate(p, toward(s), rng.choice([20, 60]), 4000)]
    for h in hits:
        at = h * size + rng.randint(2000, size - 2000)
        lines.append(f"rule={toward(s)} data seq={at}-{at + 1} m={times}{after} drop")

    def judge(seen):
        if len(seen.drops()) != times * len(hits) or seen.timeouts(s) < len(hits) or not timeouts(seen) or not seen.finished():
            return "no timeout"
        took = seen.exchanges("a")
        cost = sum(took[h] - sorted(took)[len(took) // 2] for h in hits) - len(hits) * (0.06 + 4 * p["rtt_ms"] / 1000)
        return truth({"rto": s + ("m" if after else "")}, ["tail_loss", "black_hole"], never=["congestion_loss"], budget={f"recovery@{s}": max(0.0, cost)})
    return case("stubborn", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([3, 14, 33, 80]), judge, s, clothes=False)


def contract(rng):
    """Quiet: a policer is there, and a program that stays within what it allows."""
    p, s, mbit = {}, rng.choice("ab"), rng.choice([1, 3, 6])
    every = rng.choice([20, 40, 100])
    chunk = min(12000, int(mbit * 125 * every * rng.choice([0.4, 0.6, 0.75])))
    p.update(policed_mbit=mbit, chunk=chunk, every_ms=every)
    lines = [f"{s}_script=(p{every * 1000} w{chunk})*{8000 // every} c", f"{other(s)}_script=d c", f"{s}_nodelay=1", f"police_{toward(s)}={mbit * 1000}", f"burst_{toward(s)}={4 * chunk + 6000}",
             f"rate_{toward(s)}={rng.choice([20, 100]) * 1000}", f"queue_{toward(s)}=4000"]

    def judge(seen):
        return "something was policed" if seen.raw[seen.dir]["policed"] else calm(seen)
    return case("contract", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([2, 15, 45, 110]), judge, s, clothes=False)


def probe(rng):
    """Quiet: a load balancer opens connections again and again and closes them with no word or one question, beside one that is used."""
    p, conns, n, every = {}, rng.randint(8, 20), rng.randint(5, 15), rng.choice([200, 500, 1000])
    p.update(connections=conns, every_ms=every)
    asks = [rng.random() < 0.4 for _ in range(conns - 1)]
    lines = [f"conns={conns}", f"stagger={every * 1000}", f"a_script=(w240 r1300 s{rng.choice([90, 400]) * 1000})*{n} c", *(f"a_script={'w60 r180 c' if x else 'c'}" for x in asks),
             f"b_script=(r240 w1300)*{n} d c", *(f"b_script={'r60 w180 d c' if x else 'd c'}" for x in asks)]
    return case("probe", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 3, 17, 42]), lambda seen: calm(seen, ["slow_client"]), "b", clothes=False)


KINDS = [(meeting, 2), (lte, 3), (office, 3), (limiter, 2), (consumer, 3), (stubborn, 3), (contract, 3), (probe, 2)]
