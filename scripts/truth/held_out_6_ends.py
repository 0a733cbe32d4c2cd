"""The kinds of held_out_6 that applications and ends make, and more quiet ones. Do not describe them elsewhere."""

from apps import thought
from case import POINTS, must, other, rate, toward, truth
from held_out import experiment, toml
from held_out_2 import case, dress
from held_out_3_ends import late_acks, thinking
from held_out_4_quiet import calm


def greeting(rng):
    """The server speaks first, and the last packet of some handshakes is lost."""
    p, conns, n = {}, rng.randint(2, 5), rng.randint(2, 6)
    hits, after = sorted(rng.sample(range(conns), rng.choice([1, 1, 2]))), rng.choice(["", " after"])
    banner = rng.choice([40, 300, 1400])
    p.update(connections=conns, which=hits)
    lines = [f"conns={conns}", f"stagger={rng.choice([30, 400, 1700]) * 1000}", f"a_script=(r{banner} w60 s{rng.choice([0, 8, 15]) * 1000})*{n} c", f"b_script=(w{banner} r60)*{n} d c"]
    lines += [f"rule=ab ack flow={k} n=1{after} drop" for k in hits]

    def judge(seen):
        if len(seen.drops()) != len(hits) or seen.count("b", "TCPSynRetrans") + seen.count("b", "TcpRetransSegs") < len(hits) or not seen.finished():
            return "no SYN-ACK was sent again"
        if seen.timeouts("a"):
            return "the client repeated something"
        return truth({"syn_retries": POINTS}, ["syn_retries"], never=["random_loss", "congestion_loss", "slow_server"])
    return case("greeting", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.5, 11, 35, 90]), judge, "b", clothes=False)


def impatient(rng):
    """A client waits for so long, closes and asks again on a new connection; the answers come too late."""
    p, conns, n = {}, rng.randint(2, 4), rng.randint(0, 5)
    wait, late = rng.choice([1600, 3000, 7000]), rng.choice([400, 2000])
    p.update(connections=conns, wait_ms=wait, late_ms=late)
    quick = (f"(w180 r950 s25000)*{n} ", f"(r180 w950)*{n} ") if n else ("", "")
    lines = [f"conns={conns}", f"stagger={(wait + 900) * 1000}", f"a_script={quick[0]}w180 s{wait * 1000} c", f"b_script={quick[1]}r180 s{(wait + late) * 1000} w950 d c"]

    def judge(seen):
        if not seen.quiet or seen.count("a", "TcpOutRsts") < conns:
            return "no answer came too late"
        return truth(must("slow_server"), ["no_answer", "slow_server", "reset"], budget={"server_thinks": 0.95 * conns * wait / 1000})
    return case("impatient", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.6, 14, 40, 90]), judge, "b", clothes=False)


def mixed(rng):
    """Requests of all sizes, each in two or three writes, with Nagle's algorithm; answers of all sizes in one."""
    p, n = {}, rng.randint(14, 40)
    ask, say = [], []
    for _ in range(n):
        writes = [rng.choice([5, 30, 120, 400]), rng.choice([40, 260, 900, 1300]), *rng.choice([[], [], [rng.choice([10, 700])]])]
        reply = rng.choice([20, 180, 1100, 2600, 7000])
        ask.append(" ".join(f"w{x}" for x in writes) + f" r{reply}")
        say.append(f"r{sum(writes)} w{reply}")
    p["requests"] = n
    lines = [f"a_script={' '.join(ask)} c", f"b_script={' '.join(say)} d c", "b_nodelay=1"]

    def judge(seen):
        late = seen.count("b", "DelayedACKs")
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if late < max(4, 0.4 * n):
            return "no delayed ACKs"
        return truth(must("delack_nagle"), ["delack_request_response"], budget={"delayed_ack": late * 0.036})
    return case("mixed", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.3, 2, 7, 20]), judge, "a", clothes=False)


def cookie(rng):
    """A server that answers each SYN with a cookie, and clients without time stamps: nothing of what they offered is kept."""
    p, s, rtt = {}, rng.choice("abb"), rng.choice([70, 130, 210])
    size = rng.choice([1000, 2000, 3500]) * 1000
    p["bytes"] = size
    lines = [f"a_script={'w' if s == 'a' else 'r'}{size} c", f"b_script={'r' if s == 'a' else 'w'}{size} d c", "sysctl_b=net.ipv4.tcp_syncookies 2", "sysctl_a=net.ipv4.tcp_timestamps 0", *rate(p, toward(s), 150, 4000)]
    if rng.random() < 0.3:
        lines.append("ipv6=1")

    def judge(seen):
        if not (seen.quiet and seen.finished()) or not seen.count("b", "SyncookiesSent"):
            return "no cookie"
        if seen.share("rwnd") < 0.5:
            return "the window was not the limit"
        return truth(must("window_scaling"), ["option_removed", "receive_window", "slow_start", *late_acks(seen)], budget={"receive_window": 0.95 * seen.seconds("rwnd")})
    return case("cookie", rng, p, lines, rtt, judge, s, clothes=False)


def thinks(conns):
    """Judges connections on which the server takes at least two fifths of the time."""
    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(thought(seen, "b", c) < 0.4 * sum(seen.exchanges("a", c)) for c in range(conns)):
            return "the path took longer than the server"
        return truth(must("slow_server"), budget={"server_thinks": thinking(seen, conns)})
    return judge


def backend(rng):
    """A far server that answers most questions at once, and asks a slow machine behind it for each third or fourth."""
    p, conns, rounds, k = {}, rng.choice([1, 1, 2, 3]), rng.randint(5, 10), rng.choice([3, 4])
    rtt, slow, reply = rng.choice([60, 85, 120]), rng.choice([500, 900, 1600]), rng.choice([300, 2500, 9000])
    p.update(slow_ms=slow, each=k, connections=conns)
    lines = [f"conns={conns}", "stagger=45000", f"a_script=((w240 r{reply})*{k} s{rng.choice([2, 12]) * 1000})*{rounds} c", f"b_script=((r240 s2000 w{reply})*{k - 1} r240 s{slow * 800} j{slow * 400} w{reply})*{rounds} d c"]
    return case("backend", rng, p, [*lines, *dress(rng, p, small=False)], rtt, thinks(conns), "b", clothes=False)


def login(rng):
    """Many connections; on each the server thinks once, when the client has said who it is, and never again."""
    p, conns, n = {}, rng.randint(4, 9), rng.randint(2, 5)
    think, rtt = rng.choice([350, 800, 1800]), rng.choice([0.5, 12, 33, 65])
    p.update(think_ms=think, connections=conns)
    lines = [f"conns={conns}", f"stagger={rng.choice([20, 700]) * 1000}", f"a_script=w130 r110 w90 r60 (w200 r1600 s4000)*{n} c", f"b_script=r130 w110 r90 s{think * 1000} w60 (r200 w1600)*{n} d c"]
    return case("login", rng, p, [*lines, *dress(rng, p, small=False)], rtt, thinks(conns), "b", clothes=False)


def progress(rng):
    """A server that says each second that it is still busy, and then gives its answer."""
    p, n, k = {}, rng.randint(1, 3), rng.randint(3, 7)
    every, word, reply = rng.choice([400, 1000, 2500]), rng.choice([2, 24, 90]), rng.choice([500, 7000])
    p.update(every_ms=every, words=k)
    lines = [f"a_script=(w310 r{word * k + reply})*{n} c", f"b_script=(r310 (s{every * 1000} w{word})*{k} s{every * 1000} w{reply})*{n} d c", "b_nodelay=1", "max=150000000"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("slow_server"), budget={"server_pauses": sum(seen.pauses("b"))})
    return case("progress", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 9, 27, 80]), judge, "b", clothes=False)


def corked(rng):
    """A server that forgets to take the cork out: the end of each answer waits until the kernel loses patience."""
    p, n = {}, rng.randint(8, 20)
    reply = rng.choice([300, 2000, 5000])
    p.update(reply=reply, requests=n)
    text = toml(rng, p, f'kind = "request-response"\nrequest = 170\nresponse = {reply}\ncount = {n}\nserver_socket = {{ cork = true }}', rtt=rng.choice([1, 10, 30, 60]))

    def judge(seen):
        took = seen.steps("a")[-1][3] - seen.info("a", "opened")
        if not (seen.quiet and seen.finished()) or took < n * 0.19:
            return "nothing waited"
        return truth(must("slow_server"), [*late_acks(seen)])
    return experiment("corked", rng, p, text, judge)


def clamp(rng):
    """A program that clamps the window of its sockets to what its author found large enough."""
    p, up, rtt = {}, rng.random() < 0.5, rng.choice([45, 90, 160])
    window = rng.choice([12, 24, 48]) * 1024
    p["window"] = window
    own = {"server" if up else "client": f"socket = {{ window_clamp = {window} }}"}
    text = toml(rng, p, f'kind = "bulk"\nbytes = {window * rng.randint(25, 45)}\nreverse = {"false" if up else "true"}', far='rate = "200mbit"\nlimit = 4000', rtt=rtt, **own)
    s = "a" if up else "b"

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.share("rwnd") < 0.5:
            return "the window was not the limit"
        return truth(must("receive_window"), ["slow_start", *late_acks(seen)], budget={"receive_window": 0.95 * seen.seconds("rwnd")})
    return experiment("clamp", rng, p, text, judge, s)


def lease(rng):
    """Quiet: a server closes connections that rested for long enough, and the clients close them, too."""
    p, conns, n, kept = {}, rng.randint(1, 4), rng.randint(2, 9), rng.choice([5, 15, 60])
    reply = rng.choice([400, 5000])
    p.update(connections=conns, kept_s=kept)
    lines = [f"conns={conns}", f"stagger={rng.choice([200, 4000]) * 1000}", f"a_script=(w210 r{reply})*{n} d c", f"b_script=(r210 w{reply})*{n} s{kept * 1000000} c", "max=180000000"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(never=["slow_server", "no_answer"])
    return case("lease", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.5, 15, 42, 95]), judge, "b", clothes=False)


def secret(rng):
    """Quiet: connections that agree on keys first: some messages each way, and then a request and its answer."""
    p, conns, reply, n = {}, rng.randint(2, 8), rng.choice([700, 6000, 12000]), rng.randint(1, 4)
    old = rng.random() < 0.4
    p.update(connections=conns, old=old)
    keys = ("w240 r3900 w130 r60", "r240 w3900 r130 w60") if old else ("w560 r4200 w80", "r560 w4200 r80")
    lines = [f"conns={conns}", f"stagger={rng.choice([5, 90, 800]) * 1000}", f"a_script={keys[0]} (w420 r{reply})*{n} c", f"b_script={keys[1]} (r420 w{reply})*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    return case("secret", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 8, 26, 70, 150]), lambda seen: calm(seen, ["slow_start"]), "b", clothes=False)


def permit(rng):
    """Quiet: a client asks whether it may send something large, and sends it when the server says yes."""
    p, n, body = {}, rng.randint(3, 10), rng.choice([2500, 9000, 13000])
    p.update(bytes=body, uploads=n)
    lines = [f"a_script=(w230 r25 w{body} r70)*{n} c", f"b_script=(r230 w25 r{body} w70)*{n} d c", "a_nodelay=1", "b_nodelay=1"]
    return case("permit", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 9, 31, 80, 170]), lambda seen: calm(seen, ["slow_start"]), "a", clothes=False)


def hiccup(rng):
    """Quiet for TCP: a feed stands still for seconds because the program that writes it does; nothing is lost."""
    p, s, parts, n = {}, rng.choice("ab"), rng.randint(2, 4), rng.randint(25, 60)
    gap, size, every = rng.choice([700, 1800, 6000]), rng.choice([90, 650, 1400, 4000]), rng.choice([8, 20, 45])
    p.update(gap_ms=gap, size=size, every_ms=every)
    lines = [f"{s}_script=((w{size} s{every * 1000})*{n} s{gap * 1000})*{parts} c", f"{other(s)}_script=d c", f"{s}_nodelay=1"]
    return case("hiccup", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.6, 13, 45, 110]), lambda seen: calm(seen, ["slow_server", "slow_client"]), s, clothes=False)


def metronome(rng):
    """Quiet: a film server that tells its kernel how fast to send, far below what the path takes."""
    p, up, mbit = {}, rng.random() < 0.4, rng.choice([2, 5, 9])
    p["paced_mbit"] = mbit
    own = {"client" if up else "server": f'socket = {{ max_pacing_rate = "{mbit}mbit" }}'}
    text = toml(rng, p, f'kind = "bulk"\nbytes = {mbit * 125000 * rng.choice([3, 5])}\nreverse = {"false" if up else "true"}', far='rate = "80mbit"\nlimit = 4000', rtt=rng.choice([6, 20, 45, 90]), **own)

    def judge(seen):
        if not (seen.quiet and seen.finished()) or seen.share("rwnd", "a" if up else "b") > 0.1:
            return "not quiet"
        return truth(allowed=["slow_start", *late_acks(seen)], never=["send_buffer", "receive_window", "bufferbloat"])
    return experiment("metronome", rng, p, text, judge, "a" if up else "b")


def eager(rng):
    """Quiet: small objects on connections of their own, whose requests go with the SYN."""
    p, n = {}, rng.randint(6, 15)
    reply = rng.choice([300, 2500, 11000])
    p.update(connections=n, reply=reply)
    both = 'sysctl = { "net.ipv4.tcp_fastopen" = 3 }'
    text = toml(rng, p, f'kind = "connect-request-response"\nrequest = {rng.choice([90, 350, 900])}\nresponse = {reply}\ncount = {n}\nfastopen = true\npause = "{rng.choice([0, 30, 200])}ms"', rtt=rng.choice([2, 15, 40, 90]), client=both, server=both)

    def judge(seen):
        if not (seen.quiet and seen.finished()) or not seen.count("a", "TCPFastOpenActive"):
            return "not quiet"
        return truth(allowed=["slow_client"])
    return experiment("eager", rng, p, text, judge)


KINDS = [(greeting, 4), (impatient, 4), (mixed, 4), (cookie, 4), (backend, 4), (login, 4), (progress, 4), (corked, 2), (clamp, 2), (lease, 4), (secret, 4), (permit, 4), (hiccup, 4), (metronome, 4), (eager, 2)]
