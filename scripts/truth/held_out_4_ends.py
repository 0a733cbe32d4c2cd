"""The kinds of held_out_4 that applications and ends make. Do not describe them elsewhere."""

from apps import thought
from case import OLD, POINTS, Case, must, n_round_trips, other, path, rate, toward, truth
from held_out_2 import case, dress
from held_out_3_ends import late_acks, thinking


def warmup(rng):
    """A server with empty caches: its first answers take seconds and each further one less; or one that becomes slower and slower."""
    p, conns, n = {}, rng.choice([1, 1, 2, 4]), rng.randint(7, 12)
    worst, part, colder = rng.choice([700, 1500, 2600]), rng.choice([0.5, 0.65]), rng.random() < 0.4
    thinks = [max(2, int(worst * part**i)) for i in range(n)]
    thinks = thinks[::-1] if colder else thinks
    reply = rng.choice([240, 2600, 8800])
    p.update(worst_ms=worst, grows=colder, connections=conns)
    lines = [f"conns={conns}", "stagger=11000", f"a_script=(w330 r{reply} s{rng.choice([3, 30]) * 1000})*{n} c", "b_script=" + " ".join(f"r330 s{t * 1000} w{reply}" for t in thinks) + " d c"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(thought(seen, "b", k) < 0.4 * sum(seen.exchanges("a", k)) for k in range(conns)):
            return "the path took longer than the server"
        return truth(must("slow_server"), budget={"server_thinks": thinking(seen, conns)})
    return case("warmup", rng, p, lines, rng.choice([0.6, 11, 29, 70]), judge, "b")


def hung(rng):
    """One of several workers hangs: its client waits, and then closes or resets; the others answer."""
    p, conns, n = {}, rng.randint(3, 5), rng.randint(1, 6)
    stuck, wait, end = rng.randrange(conns), rng.choice([2500, 6000, 14000]), rng.choice("ccR")
    p.update(connections=conns, stuck=stuck, wait_ms=wait, end=end)
    lines = [f"conns={conns}", "stagger=30000"]
    for k in range(conns):
        more = f" w170 s{wait * 1000} {end}" if k == stuck else " c"
        lines += [f"a_script=(w170 r750 s40000)*{n if k == stuck else 4 * n + 10}{more}", f"b_script=(r170 s3000 w750)*{n if k == stuck else 4 * n + 10}{' r170' if k == stuck else ''} d c"]

    def judge(seen):
        if not seen.quiet or any(seen.info(side, "done", k) != 1 for side in "ab" for k in range(conns)):
            return "not quiet"
        return truth(must("no_answer"), ["reset"], budget={"server_thinks": wait / 1000})
    return case("hung", rng, p, lines, rng.choice([0.5, 9, 31, 74]), judge, "b")


def orm(rng):
    """A program that asks for one row after the other and works on each, on one connection or on some."""
    p, conns, n = {}, rng.choice([1, 1, 3]), rng.randint(25, 60)
    work, row = rng.choice([30, 55, 90]), rng.choice([90, 380, 1300])
    rtt = rng.choice([x for x in [0.3, 1.5, 7, 16, 28] if 2.5 * x <= work])
    p.update(work_ms=work, requests=n, connections=conns)
    lines = [f"conns={conns}", "stagger=90000", f"a_script=(w85 r{row} s{work * 800} j{work * 400})*{n} w85 r{row} c", f"b_script=(r85 w{row})*{n + 1} d c"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("slow_client"), budget={"client_thinks": sum(thought(seen, "a", k) for k in range(conns))})
    return case("orm", rng, p, lines, rtt, judge, "b")


def courier(rng):
    """The server tells news in two or three writes each, and the client's program says of each that it has come."""
    p, n = {}, rng.randint(12, 40)
    head, body, word = rng.choice([12, 48, 130]), rng.choice([70, 310, 840]), rng.choice([8, 40])
    writes = [head, body] if rng.random() < 0.5 else [4, head, body]
    every = rng.choice([0, 15, 90])
    p.update(news=n, writes=len(writes), every_ms=every)
    lines = [f"a_script=(r{sum(writes)} w{word})*{n} c", f"b_script=({f's{every * 1000} ' if every else ''}{' '.join(f'w{x}' for x in writes)} r{word})*{n} d c"]

    def judge(seen):
        late = seen.count("a", "DelayedACKs")
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if late < max(4, 0.5 * n):
            return "no delayed ACKs"
        return truth(must("delack_nagle"), ["delack_request_response", "slow_server"], budget={"delayed_ack": late * 0.036})
    return case("courier", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.3, 2, 6, 18]), judge, "b", clothes=False)


def feed(rng):
    """An old kernel reads a feed of messages as large as its guess of a segment; the feed rests for seconds now and then."""
    p, parts, n, s = {}, rng.randint(2, 3), rng.randint(32, 60), rng.choice("abb")
    size, every, gap = rng.choice([700, 900, 1100, 1300, 1448]), rng.choice([70, 110, 140]), rng.choice([2000, 5000])
    p.update(size=size, every_ms=every, parts=parts, sender=s)
    lines = ["steps=1", f"{s}_script=((w{size} s{every * 1000})*{n} s{gap * 1000})*{parts} c", f"{other(s)}_script=d c", f"{s}_nodelay=1"]
    if rng.random() < 0.3:
        lines.append("ipv6=1")
        lines[1] = lines[1].replace("w1448", "w1428")

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if seen.r("DelayedACKs") < max(5, 0.4 * (n - 17) * parts):
            return "no delayed ACKs"
        return truth(must("quickack_exhausted"))
    return Case("feed", [*lines, *path(rng, p, rng.choice([0.4, 3, 8, 15]))], judge, s, OLD, p)


def printer(rng):
    """A printer takes the first pages, and then none for a minute or so; the sender waits, or gives up."""
    p, cap, pause = {}, rng.choice([24, 60, 150]) * 1000, rng.choice([16, 35, 75])
    first, patience = rng.choice([30, 120]) * 1000, rng.choice([0, 0, 9000])
    p.update(pause_s=pause, buffer=cap, user_timeout_ms=patience)
    lines = [f"a_script=w{first + 5 * cap} c", f"b_script=r{first} s{pause * 1000000} d c", f"sysctl_b=net.ipv4.tcp_rmem 4096 {min(cap, 65536)} {cap}", *rate(p, "ab", rng.choice([9, 50])), "max=200000000"]
    if patience:
        lines.append(f"a_user_timeout_ms={patience}")

    def judge(seen):
        if seen.drops() or not seen.r("TCPToZeroWindowAdv") or not patience and not seen.finished():
            return "the window was never closed"
        if patience and seen.info("a", "error") != 110:
            return "the sender did not give up"
        more = ["reset", "slow_server", "no_answer"] if patience else []
        return truth(must("zero_window"), ["receive_window", "slow_start", *more, *late_acks(seen)], budget={} if patience else {"zero_window": seen.seconds("rwnd") * 0.95})
    return case("printer", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 3, 20]), judge, "a", clothes=False)


def pipelined(rng):
    """A client asks for much at once, is busy with something else, and reads the answers when its memory has long been full."""
    p, k, cap = {}, rng.randint(12, 30), rng.choice([50, 90, 160]) * 1000
    reply, busy, n = cap * rng.choice([3, 5]) // k, rng.choice([700, 1800, 4000]), rng.randint(2, 4)
    p.update(requests=k, busy_ms=busy, buffer=cap)
    lines = [f"a_script=(w{90 * k} s{busy * 1000} r{reply * k})*{n} c", f"b_script=(r90 w{reply})*{k * n} d c", f"sysctl_a=net.ipv4.tcp_rmem 4096 {min(cap, 49152)} {cap}", *rate(p, "ba", rng.choice([30, 90]))]

    def judge(seen):
        if seen.drops() or not seen.finished():
            return "not finished"
        if not seen.r("TCPToZeroWindowAdv") or seen.seconds("rwnd") < 0.5 * sum(seen.pauses("a")):
            return "the window was not closed for long"
        return truth(must("zero_window"), ["receive_window", "slow_start", "slow_client", "window_after_idle", *late_acks(seen)], budget={"zero_window": seen.seconds("rwnd") * 0.9})
    return case("pipelined", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.8, 9, 33, 75]), judge, "b", clothes=False)


def untuned(rng):
    """A receiver whose administrator turned the growth of receive buffers off, and a path that is long for what is left."""
    p, s, rtt, conns = {}, rng.choice("aab"), rng.choice([75, 130, 190, 270]), rng.choice([1, 1, 2])
    buffer, n = rng.choice([32768, 65536, 87380, 131072]), rng.randint(2, 4)
    size = buffer * rng.randint(5, 8)
    p.update(buffer=buffer, connections=conns, bytes=size)
    ask, answer = (f"w{size} r70", f"r{size} w70") if s == "a" else (f"w70 r{size}", f"r70 w{size}")
    o = other(s)
    lines = [f"conns={conns}", "stagger=45000", f"a_script=({ask})*{n} c", f"b_script=({answer})*{n} d c", f"sysctl_{o}=net.ipv4.tcp_moderate_rcvbuf 0", f"sysctl_{o}=net.ipv4.tcp_rmem 4096 {buffer} 6291456",
             *rate(p, toward(s), rng.choice([120, 300]))]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(seen.info(s, "rwnd_limited_us", k) < 0.6 * seen.info(s, "busy_us", k) for k in range(conns)):
            return "the window was not the limit"
        return truth(must("receive_window"), ["slow_start", *late_acks(seen)], budget={"receive_window": 0.95 * sum(seen.info(s, "rwnd_limited_us", k) for k in range(conns)) / 1e6})
    return case("untuned", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, s, clothes=False)


def firewall(rng):
    """A firewall takes window scaling out of the client's SYN, or out of the answer alone; then something large is sent."""
    p, way = {}, rng.choice(["ab", "ab", "ba"])
    s, rtt = ("a" if way == "ba" else rng.choice("ab")), rng.choice([35, 70]) if way == "ba" else rng.choice([85, 140, 210])
    size = rng.choice([25, 50]) * 1000 if way == "ba" else rng.choice([1200, 2600]) * 1000
    p.update(way=way, bytes=size)
    ask, answer = (f"w{size} r50", f"r{size} w50") if s == "a" else (f"w50 r{size}", f"r50 w{size}")
    lines = [f"a_script={ask} c", f"b_script={answer} d c", f"rule={way} syn strip=3", "max=150000000", *rate(p, toward(s), 100)]
    words = ["option_removed", "window_scaling", "receive_window", "slow_start", "zero_window"]

    def judge(seen):
        if not seen.done("strip") or seen.drops() or not seen.finished() or seen.share("rwnd") < 0.5:
            return "the window was not the limit"
        if way == "ba":  # the server believes in scaling and the client does not
            return truth({"option_removed": "am"}, [*words, *late_acks(seen)], one_of=[[["receive_window", "window_scaling", "zero_window"], "am"]])
        return truth({"window_scaling": POINTS, "option_removed": "a"}, [*words[:4], *late_acks(seen)], budget={"receive_window": 0.95 * seen.seconds("rwnd")})
    return case("firewall", rng, p, lines, rtt, judge, s, clothes=False)


def wmem(rng):
    """A file server whose administrator gave sockets little memory to send from, and clients far away."""
    p, rtt, conns, n = {}, rng.choice([65, 120, 200]), rng.choice([1, 2]), rng.randint(2, 3)
    cap = rng.choice([20, 40, 64]) * 1024
    size = cap * rng.randint(14, 22)
    p.update(buffer=cap, bytes=size, connections=conns)
    lines = [f"conns={conns}", "stagger=70000", f"a_script=(w190 r{size})*{n} c", f"b_script=(r190 w{size})*{n} d c", f"sysctl_b=net.ipv4.tcp_wmem 4096 16384 {cap}", "sysctl_a=net.ipv4.tcp_rmem 4096 1000000 6291456",
             *rate(p, "ba", rng.choice([150, 400]), 4000)]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        spare = 0.0
        for k in range(conns):
            took, mss = sum(seen.exchanges("a", k)), seen.info("b", "snd_mss", k)
            free = n * (n_round_trips(size, 10 * mss) + 1) * rtt / 1000
            if took < 2 * free or seen.info("b", "cwnd", k) * mss < 1.2 * n * size * rtt / 1000 / took or seen.info("b", "rwnd_limited_us", k) > 0.1 * seen.info("b", "busy_us", k):
                return "the send buffer was not the limit"
            spare += took - free
        return truth(must("send_buffer"), ["slow_start", "delack_request_response"], budget={"send_buffer": spare})
    return case("wmem", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "b", clothes=False)


def snapshots(rng):
    """A camera has sent much, and then one picture now and then: each begins again with a small window."""
    p, rtt, big = {}, rng.choice([45, 90, 140]), rng.choice([180, 260, 420]) * 1000
    warm, rounds, pause = rng.randint(3, 5), rng.randint(2, 4), rng.choice([1800, 3500, 6500])
    p.update(picture=big, pause_ms=pause)
    lines = [f"a_script=(w{big} r30)*{warm} (s{pause * 1000} w{big} r30)*{rounds} c", f"b_script=(r{big} w30)*{warm + rounds} d c", "sysctl_b=net.ipv4.tcp_rmem 4096 6291456 6291456", *rate(p, "ab", 250)]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        times = seen.exchanges("a")
        if len(times) != warm + rounds or min(times[warm:]) - times[warm - 1] < 1.5 * rtt / 1000:
            return "no window was lost"
        return truth(must("window_after_idle"), ["slow_start", "slow_client"], budget={"client_thinks": thought(seen, "a")})
    return case("snapshots", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "a", clothes=False)


def fresh(rng):
    """A client that opens a connection for each picture of a page, far from the server; the server may think first."""
    p, conns, rtt = {}, rng.randint(3, 6), rng.choice([75, 125, 180])
    size, think = rng.choice([60, 130, 280]) * 1000, rng.choice([0, 0, 500, 900])
    p.update(bytes=size, connections=conns, think_ms=think)
    lines = [f"conns={conns}", f"stagger={rng.choice([250, 1900]) * 1000}", f"a_script=w260 r{size} c", f"b_script=r260{f' s{think * 1000}' if think else ''} w{size} d c",
             "sysctl_a=net.ipv4.tcp_rmem 4096 6291456 6291456", *rate(p, "ba", 300)]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if any(seen.info("b", "ssthresh", k) < 2**31 - 1 or seen.info("b", "rwnd_limited_us", k) > 0.1 * seen.info("b", "busy_us", k) for k in range(conns)):
            return "not slow start alone"
        slow = {"slow_server": POINTS} if think and thinking(seen, conns) > 0.35 * sum(sum(seen.exchanges("a", k)) for k in range(conns)) else {}
        return truth({"slow_start": POINTS, **slow}, budget={"under_way": conns * (n_round_trips(size) - 1) * rtt / 1000, "server_thinks": thinking(seen, conns)})
    return case("fresh", rng, p, [*lines, *dress(rng, p, small=False)], rtt, judge, "b", clothes=False)


def crowd(rng):
    """All clients come back at once after a failure, and the server accepts late: its queue overflows, silently or with resets."""
    p, n, late = {}, rng.randint(14, 28), rng.choice([900, 1900, 3200])
    somaxconn, loud = rng.choice([2, 4, 7]), rng.random() < 0.35
    p.update(somaxconn=somaxconn, connections=n, resets=loud)
    lines = [f"conns={n}", f"stagger={rng.choice([2, 15]) * 1000}", f"accept_after={late * 1000}", f"sysctl_b=net.core.somaxconn {somaxconn}", f"sysctl_b=net.ipv4.tcp_abort_on_overflow {int(loud)}",
             "a_script=w210 r600 c", "b_script=r210 w600 d c"]
    words = ["accept_queue", "syn_retries", "slow_server", "rto", "tail_loss", "black_hole", "reset", "refused", "no_answer", "spurious_rto", "spurious_fast"]

    def judge(seen):
        if seen.drops() or seen.count("b", "ListenOverflows") < 2:
            return "no overflow"
        if loud and not seen.count("b", "TcpOutRsts"):
            return "no reset"
        if loud:
            return truth({}, words, one_of=[[["reset", "accept_queue", "refused"], POINTS]])
        return truth({"accept_queue": "b"}, words, one_of=[[["accept_queue", "syn_retries"], "am"]])
    return case("crowd", rng, p, lines, rng.choice([0.5, 7, 30]), judge, "a", clothes=False)


def flooded(rng):
    """A server without SYN cookies that has room for a few half-open connections, and clients far away that come at once."""
    p, n, backlog = {}, rng.randint(12, 24), rng.choice([3, 5, 8])
    p.update(backlog=backlog, connections=n)
    lines = [f"conns={n}", f"stagger={rng.choice([300, 2000])}", f"backlog={backlog}", "sysctl_b=net.ipv4.tcp_syncookies 0", "a_script=w160 r900 c", "b_script=r160 w900 d c"]

    def judge(seen):
        if seen.drops() or seen.count("b", "TCPReqQFullDrop") + seen.count("b", "ListenDrops") < 3 or not seen.both("TCPSynRetrans") or not seen.finished():
            return "no SYN was ignored"
        return truth({}, ["syn_retries", "accept_queue"], one_of=[[["syn_retries", "accept_queue"], POINTS]])
    return case("flooded", rng, p, lines, rng.choice([60, 110, 190]), judge, "a", clothes=False)


def closed(rng):
    """Nobody listens at a port, the client tries again and again, and one SYN or its answer is lost on the way."""
    p, n, way = {}, rng.randint(2, 6), rng.choice(["ab", "ba"])
    after, hit = rng.choice(["", " after"]), rng.randint(1, n)
    at = "a" + ("m" if way == "ba" or after else "") + ("b" if way == "ba" else "")
    p.update(connections=n, lost=hit, way=way)
    lines = ["a_script=w100 c", "no_listener=1", f"conns={n}", f"stagger={rng.choice([400, 1500, 2500]) * 1000}", f"rule={way} packet n={hit}{after} drop"]

    def judge(seen):
        if len(seen.drops()) != 1 or any(c["a"]["error"] != 111 for c in seen.raw["connections"]):
            return "not refused"
        return truth({"refused": POINTS, "syn_retries": at}, ["reset", "syn_retries"])
    return case("closed", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.4, 10, 45, 110]), judge, "a", clothes=False)


def stale(rng):
    """A connection of a pool rests for longer than the server keeps it: the server resets it, or closes it and resets what comes later."""
    p, conns, n = {}, rng.randint(1, 4), rng.randint(2, 7)
    kept, late, how = rng.choice([3000, 7000]), rng.choice([500, 4000]), rng.choice("cR")
    p.update(connections=conns, kept_ms=kept, how=how)
    lines = [f"conns={conns}", "stagger=120000", f"a_script=(w230 r1700 s15000)*{n} s{(kept + late) * 1000} w230 r1700 c", f"b_script=(r230 w1700)*{n} s{kept * 1000} {how}"]

    def judge(seen):
        if seen.drops() or seen.count("b", "TcpOutRsts") < conns:
            return "no reset"
        return truth(must("reset"), ["slow_client"])
    return case("stale", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.5, 13, 38, 85]), judge, "b", clothes=False)


def censor(rng):
    """Something on the way does not like the first or second request of some connections, and resets these at both ends."""
    p, conns, n = {}, rng.randint(3, 6), rng.randint(4, 9)
    hits, at = sorted(rng.sample(range(conns), rng.choice([1, 2]))), rng.choice([1, 1, 2])
    p.update(connections=conns, which=hits, request=at)
    lines = [f"conns={conns}", "stagger=35000", f"a_script=(w320 r2400 s15000)*{n} c", f"b_script=(r320 w2400)*{n} d c", *(f"rule=ab data flow={k} n={at} reset" for k in hits)]

    def judge(seen):
        if len(seen.done("reset")) != len(hits) or seen.finished() or seen.both("TcpOutRsts") > 2 * len(hits):
            return "no reset"
        return truth(must("middlebox_reset"), ["reset", "rto", "tail_loss"])
    return case("censor", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([4, 17, 48, 90]), judge, "b", clothes=False)


def vanished(rng):
    """A notebook goes to sleep: keep-alives of its connections were answered for a while, and then no more."""
    p, idle, end, conns = {}, rng.choice([3, 5]), rng.choice("bba"), rng.choice([1, 1, 2])
    after, cut = rng.choice(["", " after"]), rng.choice([10, 22])
    way, back = toward(end), toward(other(end))
    p.update(keepalive_s=idle, gone_after_s=cut, connections=conns)
    lines = [f"conns={conns}", "stagger=800000", "a_script=(w150 r640 s200000)*3 d c", "b_script=(r150 w640)*3 d c", f"{end}_keepalive_s={idle}", f"max={(cut + 12 * idle) * 1000000}",
             f"rule={way} packet t={cut * 1000000}-{after} drop", f"rule={back} packet t={cut * 1000000}- drop"]

    def judge(seen):
        if seen.count(end, "TCPAbortOnTimeout") < conns or not seen.count(end, "TCPKeepAlive"):
            return "keep-alive did not end it"
        return truth({"keepalive_death": end + ("m" if after else "")}, ["black_hole", "reset"])
    return case("vanished", rng, p, [*lines, *dress(rng, p, small=False)], rng.choice([0.7, 18, 60]), judge, end, clothes=False)


KINDS = [(warmup, 2), (hung, 2), (orm, 2), (courier, 3), (feed, 2), (printer, 2), (pipelined, 2), (untuned, 3), (firewall, 3), (wmem, 3), (snapshots, 3), (fresh, 3), (crowd, 2), (flooded, 1), (closed, 2),
         (stale, 2), (censor, 2), (vanished, 2)]
