"""Kinds of trouble of experiments with a router, and mixed ones. They were held out once; the detectors' authors have read them since."""

from apps import thought
from case import KERNELS, LOSSES, POINTS, Case, must, other, path, rate, sometimes, truth

RTTS = [1, 5, 10, 20, 40, 80]
HOSTS = """[run]
log = true
max = "90s"
[[host]]
name = "client"
{client}
[[host]]
name = "mid"
forward = true
[[host]]
name = "server"
{server}
"""


def toml(rng, p, app, near="", far="", rtt=None, client="", server=""):
    """An experiment file: client, a router with a capture of its own, server; keys of either link."""
    rtt = rng.choice(RTTS) if rtt is None else rtt
    p["rtt_ms"] = rtt
    links = "".join(f'[[link]]\nbetween = ["{a}", "{b}"]\ndelay = "{int(rtt * 250)}us"\n{keys}\n' for a, b, keys in (("client", "mid", near), ("mid", "server", far)))
    return HOSTS.format(client=client, server=server) + links + "[[app]]\n" + app + "\n"


def bulk(size, down=True):
    return f'kind = "bulk"\nbytes = {size}\nreverse = {"true" if down else "false"}'


def experiment(kind, rng, p, text, judge, sender="b"):
    return Case(kind, [], judge, sender, rng.choice(KERNELS), p, toml=text)


def quiet_judge(seen):
    return truth() if seen.quiet and seen.finished() else "not quiet"


def bursts(rng):
    p = {"mbit": 50}
    text = toml(rng, p, bulk(rng.choice([800, 1500]) * 1000), far=f'b_to_a = {{ burst_loss = "{rng.choice(["0.5% 30%", "1% 40%", "0.3% 20%"])}", rate = "50mbit" }}')

    def judge(seen):
        if seen.raw["ba"]["lost"] < 5 or not seen.finished():
            return "too few losses"
        return truth({**must("random_loss"), **({"rto": "b"} if seen.timeouts("b") else {})}, ["tail_loss"], never=["congestion_loss"])
    return experiment("bursts", rng, p, text, judge)


def token_bucket(rng):
    mbit = rng.choice([2, 5])
    p = {}
    text = toml(rng, p, bulk(mbit * 250000), far=f'b_to_a = "tbf rate {mbit}mbit burst {rng.choice([10, 20, 40])}k limit {rng.choice([4, 8])}k"', rtt=rng.choice([5, 20, 40]))

    def judge(seen):
        if seen.raw["ba"]["dropped"] < 8 or not seen.finished():
            return "too few losses"
        return truth({"rto": "b"} if seen.timeouts("b") else {}, ["tail_loss"], never=["random_loss"], one_of=[[["policer", "congestion_loss"], POINTS]])
    return experiment("token-bucket", rng, p, text, judge)


def active_queue(rng):
    mbit = rng.choice([5, 10, 20])
    p = {}
    text = toml(rng, p, bulk(mbit * 800000), far=f'b_to_a = {{ qdisc = "{rng.choice(["fq_codel", "codel"])}", rate = "{mbit}mbit" }}', rtt=rng.choice([20, 40]))

    def judge(seen):
        if seen.raw["ba"]["dropped"] < 4 or not seen.finished():
            return "too few losses"
        return truth({"rto": "b"} if seen.timeouts("b") else {}, [*LOSSES, "tail_loss", "bufferbloat"], one_of=[[["congestion_loss", "random_loss"], POINTS]])
    return experiment("active-queue", rng, p, text, judge)


def damaged(rng):
    p = {"mbit": 50}
    text = toml(rng, p, bulk(rng.choice([800, 1500]) * 1000), far=f'b_to_a = {{ corruption = "{rng.choice([1, 2])}%", rate = "50mbit" }}')

    def judge(seen):
        if seen.count("a", "TcpInCsumErrors") < 5 or not seen.finished():
            return "too few were damaged"
        return truth({"random_loss": "b", **({"rto": "b"} if seen.timeouts("b") else {})}, ["tail_loss", "artefacts", "spurious_fast", "reordering", "duplication", "spurious_rto"], never=["congestion_loss"])
    return experiment("damaged", rng, p, text, judge)


def narrow_way_back(rng):
    p = {}
    text = toml(rng, p, bulk(rng.choice([1500, 3000]) * 1000), near=f'a_to_b = {{ rate = "{rng.choice([60, 100, 150])}kbit", limit = {rng.choice([5, 10, 20])} }}', far='b_to_a = { rate = "20mbit" }', rtt=rng.choice([10, 20, 40]))

    def judge(seen):
        if seen.raw["ab"]["queue_drops"] < 20 or not seen.finished():
            return "too few losses"
        return truth({}, ["ack_loss", "ack_thinning", "bufferbloat"], never=[] if seen.retrans else ["random_loss", "congestion_loss"], one_of=[[["ack_loss", "ack_thinning", "bufferbloat"], "bm"]])
    return experiment("narrow-way-back", rng, p, text, judge)


def filtered(rng):
    p = {}
    text = toml(rng, p, bulk(rng.choice([1500, 3000]) * 1000), near=f'a_to_b = "cake bandwidth {rng.choice([60, 100, 150])}kbit ack-filter"', far='b_to_a = { rate = "20mbit" }', rtt=rng.choice([10, 20, 40]))

    def judge(seen):
        if seen.raw["ab"]["ack_drops"] < 50 or not seen.finished():
            return "too few were filtered"
        return truth({}, ["ack_loss", "ack_thinning", "bufferbloat"], never=[] if seen.retrans else ["random_loss", "congestion_loss"], one_of=[[["ack_thinning", "ack_loss"], "bm"]])
    return experiment("filtered", rng, p, text, judge)


def stand_still(rng):
    p = {"mbit": 10}
    text = toml(rng, p, bulk(1500000), far=f'b_to_a = {{ rate = "10mbit", limit = 2000, spikes = "0.4% median {rng.choice([600, 900])}ms sigma 0.2" }}', rtt=rng.choice([5, 20, 40]),
                client='sysctl = { "net.ipv4.tcp_timestamps" = 0 }' if rng.random() < 0.4 else "")

    def judge(seen):
        if seen.drops() or not seen.timeouts("b") or not seen.finished():
            return "no timeout"
        return truth({"spurious_rto": "b"}, ["rto", "spurious_fast", "reordering", "duplication", "bufferbloat"])
    return experiment("stand-still", rng, p, text, judge)


def overtaken(rng):
    p, rtt = {"mbit": 20}, rng.choice([20, 40, 80])
    text = toml(rng, p, bulk(rng.choice([800, 1500]) * 1000), far=f'b_to_a = {{ rate = "20mbit", reordering = "{rng.choice([1, 3])}% by {max(1, rtt // 8)}ms..{rtt // 2}ms" }}', rtt=rtt)

    def judge(seen):
        if seen.drops() or seen.timeouts() or seen.count("a", "TCPOFOQueue") < 5 or not seen.finished():
            return "too few were late"
        if seen.s("TCPDSACKRecv") > 1:
            return truth({}, ["reordering", "spurious_fast"], one_of=[[["reordering", "spurious_fast"], POINTS]])
        return truth({"reordering": "am"}, ["reordering", "spurious_fast"])
    return experiment("overtaken", rng, p, text, judge)


def pages(rng):
    p = {}
    sizes = [rng.choice([300, 2000, 9000, 13000]) for _ in range(rng.randint(3, 8))]
    text = toml(rng, p, f'kind = "web"\nsizes = {sizes}\nconnections = {rng.choice([1, 2, 4])}\nstagger = "15ms"\nthink = ["{rng.choice([0, 2, 5])}ms"]')
    return experiment("pages", rng, p, text, quiet_judge)


def paced(rng):
    """BBR, which leaves no queue."""
    p = {"mbit": 20}
    text = toml(rng, p, bulk(1000000), near='rate = "20mbit"\nlimit = 3000', rtt=rng.choice([5, 10]), server='socket = { congestion = "bbr" }')

    def judge(seen):
        return truth(allowed=["bufferbloat", "slow_start"]) if seen.quiet and seen.finished() else "not quiet"
    return experiment("paced", rng, p, text, judge)


def small_memory(rng):
    p = {}
    text = toml(rng, p, bulk(rng.choice([300, 600]) * 1000), rtt=rng.choice([40, 80, 120]), client=f'sysctl = {{ "net.ipv4.tcp_rmem" = "4096 {rng.choice(["16384 16384", "24000 24000"])}" }}')

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.share("rwnd") < 0.6:
            return "the window was not the limit"
        return truth(must("receive_window"), ["slow_start"], budget={"receive_window": seen.seconds("rwnd")})
    return experiment("small-memory", rng, p, text, judge)


def alive(rng):
    """Keep-alives that are answered."""
    p = {}
    lines = ["a_script=w200 r1000 s9000000 w200 r1000 c", "b_script=(r200 w1000)*2 d c", f"{rng.choice('ab')}_keepalive_s={rng.choice([1, 2])}", "steps=1"]

    def judge(seen):
        if not seen.both("TCPKeepAlive") or seen.drops() or not seen.finished():
            return "no keep-alives"
        return truth(allowed=["slow_client"], budget={"client_thinks": thought(seen, "a")})
    return Case("alive", [*lines, *path(rng, p, rng.choice(RTTS))], judge, "b", rng.choice(KERNELS), p)


def one_slow(rng):
    """One slow answer among quick ones."""
    p, n, think = {}, rng.randint(8, 25), rng.choice([500, 1000, 2500])
    first = rng.randint(2, n - 2)
    lines = [f"a_script=(w200 r2000)*{n + 1} c", f"b_script=(r200 w2000)*{first} r200 s{think * 1000} w2000 (r200 w2000)*{n - first} d c", "steps=1"]

    def judge(seen):
        return truth(must("slow_server"), budget={"server_thinks": thought(seen, "b")}) if seen.quiet and seen.finished() else "not quiet"
    return Case("one-slow", [*lines, *path(rng, p, rng.choice([1, 5, 20])), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def in_pieces(rng):
    """The server thinks in the middle of its answer."""
    p, n, think = {}, rng.randint(3, 10), rng.choice([100, 300, 600])
    lines = [f"a_script=(w200 r6000)*{n} c", f"b_script=(r200 w3000 s{think * 1000} w3000)*{n} d c", "steps=1", "b_nodelay=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("slow_server"), budget={"server_pauses": sum(seen.pauses("b"))})
    return Case("in-pieces", [*lines, *path(rng, p, rng.choice([1, 5, 20, 60])), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def slow_and_lossy(rng):
    """A server that thinks, over a path that loses the end of some answers."""
    p, n, think = {}, rng.randint(8, 15), rng.choice([100, 200, 400])
    reply = 1448 * rng.randint(4, 9)
    hit = rng.randint(2, n - 2)
    lines = [f"a_script=(w200 r{reply})*{n} c", f"b_script=(r200 s{think * 1000} w{reply})*{n} d c", "steps=1", f"rule=ba data seq={hit * reply - 1448}-{hit * reply} m=1 drop"]

    def judge(seen):
        if len(seen.drops()) != 1 or not (seen.s("TCPLossProbes") or seen.timeouts()) or not seen.finished():
            return "not a tail"
        return truth({"slow_server": POINTS, "tail_loss": "b"}, ["rto"], budget={"server_thinks": thought(seen, "b")})
    return Case("slow-and-lossy", [*lines, *path(rng, p, rng.choice([1, 20, 60]))], judge, "b", rng.choice(KERNELS), p)


def slow_and_nagle(rng):
    """Both: the server thinks, and requests come in two writes."""
    p, n, think = {}, rng.randint(15, 30), rng.choice([25, 30, 35])
    lines = [f"a_script=(w100 w300 r600)*{n} c", f"b_script=(r400 s{think * 1000} w600)*{n} d c", "steps=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.count("b", "DelayedACKs") < 0.4 * n:
            return "no delayed ACKs"
        return truth(must("slow_server", "delack_nagle"), ["delack_request_response"], budget={"server_thinks": thought(seen, "b")})
    return Case("slow-and-nagle", [*lines, *path(rng, p, rng.choice([0.2, 1, 5]))], judge, "a", rng.choice(KERNELS), p)


def sips(rng):
    """A reader that is slower than the path, in small steps."""
    p, s = {}, rng.choice("ab")
    piece, every = rng.choice([2000, 5000]), rng.choice([20, 50])
    n = rng.randint(40, 80)
    lines = [f"{s}_script=w{piece * n} c", f"{other(s)}_script=(r{piece} s{every * 1000})*{n} d c", f"{other(s)}_rcvbuf={rng.choice([8000, 16000])}", "steps=1"]

    def judge(seen):
        if seen.drops() or not seen.finished() or seen.share("rwnd") < 0.5:
            return "the reader was quick enough"
        at = [["zero_window", "receive_window", "slow_client" if s == "b" else "slow_server"], POINTS]
        return truth({}, ["zero_window", "receive_window"], one_of=[at], budget={"zero_window": seen.seconds("rwnd")})
    return Case("sips", [*lines, *path(rng, p, rng.choice([0.2, 1, 5, 20])), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def unread(rng):
    """An end closes with data unread, which resets."""
    p = {}
    lines = ["a_script=w200 u1000 s200000 c", "b_script=r200 w60000 d c", "steps=1"]

    def judge(seen):
        return truth(must("reset")) if seen.count("a", "TCPAbortOnClose") and not seen.drops() else "no reset"
    return Case("unread", [*lines, *path(rng, p, rng.choice([1, 10, 40]))], judge, "b", rng.choice(KERNELS), p)


def keeps_window(rng):
    """As after idle time, but the kernel is told to keep the window."""
    p, rtt, big = {}, rng.choice([40, 80, 120]), rng.choice([200, 400]) * 1000
    lines = [f"a_script=(w200 r{big})*4 (s2000000 w200 r{big})*2 c", f"b_script=(r200 w{big})*6 d c", "steps=1", "sysctl_b=net.ipv4.tcp_slow_start_after_idle 0",
             "sysctl_a=net.ipv4.tcp_rmem 4096 6291456 6291456"]

    def judge(seen):
        times = seen.exchanges("a")
        if not (seen.quiet and seen.finished()) or len(times) != 6 or max(times[4:]) > times[3] + 0.5 * rtt / 1000:
            return "the window was lost"
        return truth(allowed=["slow_client", "slow_start"], never=["window_after_idle"])
    return Case("keeps-window", [*lines, *path(rng, p, rtt), *rate(p, "ba", 200)], judge, "b", rng.choice(KERNELS), p)


def deaf(rng):
    """For a while nothing passes in either direction, in the middle of requests and answers."""
    p, n = {}, 20
    start, length = rng.randint(300, 600), rng.choice([400, 900, 1800])
    lines = [f"a_script=(w200 r3000 s20000)*{n} c", f"b_script=(r200 w3000)*{n} d c", "steps=1"]
    lines += [f"rule={way} packet t={start * 1000}-{(start + length) * 1000} drop" for way in ("ab", "ba")]

    def judge(seen):
        if not seen.timeouts() or len(seen.drops()) < 2 or not seen.finished():
            return "no timeout"
        hit = "".join(s for s in "ab" if seen.timeouts(s))
        times = seen.exchanges("a")
        cost = max(times) - sorted(times)[len(times) // 2]
        return truth({}, ["rto", "tail_loss", "spurious_rto", "black_hole"], one_of=[[["rto", "tail_loss", "spurious_rto"], hit]], budget={f"recovery@{hit}": max(0.0, cost - 0.05)})
    return Case("deaf", [*lines, *path(rng, p, rng.choice([1, 5, 20, 60])), *sometimes(rng, p)], judge, "a", rng.choice(KERNELS), p)


KINDS = [(bursts, 2), (token_bucket, 2), (active_queue, 2), (damaged, 1), (narrow_way_back, 1), (filtered, 1), (stand_still, 1), (overtaken, 2), (pages, 2), (paced, 1), (small_memory, 2),
            (alive, 1), (one_slow, 2), (in_pieces, 2), (slow_and_lossy, 1), (slow_and_nagle, 1), (sips, 2), (unread, 1), (keeps_window, 1), (deaf, 2)]
