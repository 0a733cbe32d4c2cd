"""Kinds of trouble that applications and the two ends make."""

from case import KERNELS, OLD, Case, must, n_round_trips, other, path, rate, sometimes, toward, truth

RTTS = [0.2, 1, 2, 5, 10, 20, 40, 60, 80, 100, 150]


def slow_server(rng):
    """The server thinks before it answers; 40 ms, too, which is no delayed ACK here."""
    p, n = {}, rng.randint(3, 20)
    think = rng.choice([25, 40, 40, 41, 60, 100, 200, 200, 300, 500, 800])
    rtt = rng.choice([x for x in RTTS if x <= 2 * think])
    reply = rng.choice([100, 1000, 5000])
    p.update(think_ms=think, requests=n)
    pause = rng.choice(["", "", " s2000"])
    step = rng.choice([f"s{think * 1000}", f"s{think * 800} j{think * 400}"])
    lines = [f"a_script=(w200 r{reply}{pause})*{n} c", f"b_script=(r200 {step} w{reply})*{n} d c", "steps=1", f"b_nodelay={rng.choice([0, 1])}"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("slow_server"), budget={"server_thinks": thought(seen, "b"), "handshake": seen.handshake()})
    return Case("slow-server", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def no_answer(rng):
    """The server takes a request and never answers it; the client gives up."""
    p, n = {}, rng.choice([0, 0, 3, 8])
    wait, rtt = rng.choice([1500, 3000, 8000, 20000]), rng.choice(RTTS)
    p.update(wait_ms=wait, answered=n)
    before = [f"(w200 r900)*{n}", f"(r200 w900)*{n}"] if n else ["", ""]
    lines = [f"a_script={before[0]} w200 s{wait * 1000} c", f"b_script={before[1]} r200 d c", "steps=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        return truth(must("no_answer"), budget={"server_thinks": wait / 1000})
    return Case("no-answer", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def thought(seen, side, conn=0):
    """Seconds of the pauses between a read and a write of an end."""
    steps, out, run = seen.steps(side, conn), 0.0, 0.0
    after_read = False
    for op, _, begin, end in steps:
        if op in "rud":
            after_read, run = True, 0.0
        elif op in "sj":
            run += end - begin
        elif op == "w":
            out += run if after_read else 0.0
            after_read, run = False, 0.0
    return out


def slow_client(rng):
    """The client needs a while from each answer to its next request."""
    p, n = {}, rng.choice([5, 12, 15, 20, 25])
    pause, reply = rng.choice([60, 100, 200, 300, 400]), rng.choice([100, 1000, 8000])
    rtt = rng.choice([x for x in RTTS if 2 * x <= pause])
    p.update(pause_ms=pause, requests=n)
    lines = [f"a_script=(w200 r{reply} s{pause * 1000})*{n} w200 r{reply} c", f"b_script=(r200 w{reply})*{n + 1} d c", "steps=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        # What people call a slow client does so all the time; a few pauses are a matter of words.
        return truth(must("slow_client") if n >= 12 else {}, ["slow_client"], budget={"client_thinks": thought(seen, "a"), "handshake": seen.handshake()})
    return Case("slow-client", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def late_share(seen, side, n):
    """Seconds that exchanges took longer than the quickest one."""
    times = seen.exchanges(side)
    return sum(x - min(times) for x in times) if len(times) > 2 else 0.0


def nagle(rng):
    """Write, write, read, with Nagle's algorithm, to a host that delays its ACKs."""
    p, n = {}, rng.randint(8, 40)
    head, body, reply = rng.choice([16, 100, 400]), rng.choice([32, 300, 800]), rng.choice([20, 600, 1400])
    rtt = rng.choice([0.2, 1, 2, 5, 10, 20])
    lines = [f"a_script=(w{head} w{body} r{reply})*{n} c", f"b_script=(r{head + body} w{reply})*{n} d c", "steps=1"]

    def judge(seen):
        late = seen.count("b", "DelayedACKs")
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if late < max(3, 0.4 * n):
            return "no delayed ACKs"
        return truth(must("delack_nagle"), ["delack_request_response"], budget={"delayed_ack": late * 0.036, "handshake": seen.handshake()})
    return Case("nagle", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, "a", rng.choice([*KERNELS, OLD]), p)


def small_window(rng):
    """The server's window is one segment, and the client delays each ACK."""
    p, n, reply = {}, rng.randint(3, 6), rng.choice([1448 * 3, 5000, 8000, 12000])
    lines = [f"a_script=(w300 r{reply} s{rng.choice([1, 2]) * 1000000})*{n} c", f"b_script=(r300 w{reply})*{n} d c", "steps=1", "route_initcwnd_b=1", "b_nodelay=1", "a_quickack_each=0"]

    def judge(seen):
        late = seen.count("a", "DelayedACKs")
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if late < max(3, n):
            return "no delayed ACKs"
        return truth(must("delack_request_response"), ["delack_nagle", "window_after_idle", "slow_client", "slow_start"], budget={"delayed_ack": max(0, late - n) * 0.036})
    return Case("delack-small-window", [*lines, *path(rng, p, rng.choice([0.2, 1, 5, 20])), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def quick_acks(rng):
    """A stream of writes as long as the receiver's guess of the segment size, on a kernel before 6.1.57."""
    p, n, s = {}, rng.randint(35, 90), rng.choice("ab")
    size, every, rtt = rng.choice([600, 1000, 1024, 1200, 1448]), rng.choice([80, 100, 150]), rng.choice([0.2, 1, 5, 10])
    lines = [f"{s}_script=(p{every * 1000} w{size})*{n} s300000 c", f"{other(s)}_script=d c", f"{s}_nodelay=1", "steps=1"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if seen.r("DelayedACKs") < max(5, 0.4 * (n - 17)):
            return "no delayed ACKs"
        return truth(must("quickack_exhausted"))
    return Case("quick-acks", [*lines, *path(rng, p, rtt)], judge, s, OLD, p)


def transfer(rng, p, size):
    """A transfer from one end, the other one reads."""
    s = rng.choice("abb")
    p.update(bytes=size, sender=s)
    return s, [f"{s}_script=w{size} c", f"{other(s)}_script=d c", "steps=1"]


def receive_window(rng):
    """A long path and a receiver with a small buffer."""
    p, rtt = {}, rng.choice([20, 40, 80, 120, 200])
    buffer = rng.choice([6000, 10000, 16000, 30000])
    s, lines = transfer(rng, p, buffer * rng.randint(15, 40))
    lines += [f"{other(s)}_rcvbuf={buffer}", *(rate(p, toward(s), 100) if rng.random() < 0.5 else [])]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if seen.share("rwnd") < 0.6:
            return "the window was not the limit"
        return truth(must("receive_window"), ["slow_start"], budget={"receive_window": seen.seconds("rwnd"), "handshake": seen.handshake()})
    return Case("receive-window", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def scaling_off(rng):
    """A host without window scaling: 64 KiB for a long path."""
    p, rtt = {}, rng.choice([60, 100, 150, 200])
    s, lines = transfer(rng, p, rng.choice([1, 2, 3]) * 1000000)
    lines.append(f"sysctl_{rng.choice('ab')}=net.ipv4.tcp_window_scaling 0")

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if seen.share("rwnd") < 0.5:
            return "the window was not the limit"
        return truth(must("window_scaling"), ["slow_start", "receive_window", "option_removed"], budget={"receive_window": seen.seconds("rwnd")})
    return Case("window-scaling-off", [*lines, *rate(p, toward(s), 100), *path(rng, p, rtt)], judge, s, rng.choice(KERNELS), p)


def zero_window(rng):
    """The reader pauses until its buffer is full."""
    p, s = {}, rng.choice("abb")
    pause, n, buffer = rng.choice([150, 300, 600, 1500]), rng.randint(2, 5), rng.choice([8000, 20000, 40000])
    size = buffer * (n + 2) * 3
    p.update(pause_ms=pause, times=n)
    lines = [f"{s}_script=w{size} c", f"{other(s)}_script=(r{buffer * 2} s{pause * 1000})*{n} d c", f"{other(s)}_rcvbuf={buffer}", "steps=1"]

    def judge(seen):
        if seen.drops() or not seen.finished():
            return "not finished"
        if not seen.r("TCPToZeroWindowAdv"):
            return "the window was never closed"
        return truth(must("zero_window"), ["receive_window", "slow_start"], budget={"zero_window": seen.seconds("rwnd")})
    return Case("zero-window", [*lines, *path(rng, p, rng.choice([0.2, 1, 5, 20, 60])), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def send_buffer(rng):
    """A long path and a sender with a small buffer."""
    p, rtt = {}, rng.choice([20, 40, 80, 120])
    buffer = rng.choice([5000, 10000, 20000])
    s, lines = transfer(rng, p, buffer * rng.randint(30, 60))
    lines.append(f"{s}_sndbuf={buffer}")

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        # The path has no rate: without the buffer the transfer takes the round trips of slow start.
        size, took = seen.info(s, "wrote"), seen.info(s, "ended") - seen.info(s, "opened")
        free, in_flight = (n_round_trips(size) + 1) * rtt / 1000, size * rtt / 1000 / took
        if took < 2 * free or seen.info(s, "cwnd") * 1448 < 1.2 * in_flight or seen.share("rwnd") > 0.1:
            return "the send buffer was not the limit"
        return truth(must("send_buffer"), ["slow_start", "delack_request_response"], budget={"send_buffer": took - free})
    return Case("send-buffer", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def after_idle(rng):
    """A connection that had grown its window pauses, and the next answer starts from ten segments."""
    p, rtt, big = {}, rng.choice([40, 80, 120, 200]), rng.choice([200, 300, 500]) * 1000
    warm, rounds, pause = rng.randint(3, 5), rng.randint(1, 3), rng.choice([2, 4])
    script = f"(w200 r{big})*{warm} (s{pause * 1000000} w200 r{big})*{rounds} c"
    p.update(reply=big, pause_s=pause)
    lines = [f"a_script={script}", f"b_script=(r200 w{big})*{warm + rounds} d c", "steps=1", "sysctl_a=net.ipv4.tcp_rmem 4096 6291456 6291456"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        times = seen.exchanges("a")
        if len(times) != warm + rounds or min(times[warm:]) - times[warm - 1] < 1.5 * rtt / 1000:
            return "no window was lost"
        return truth(must("window_after_idle"), ["slow_start", "slow_client"], budget={"client_thinks": thought(seen, "a")})
    return Case("window-after-idle", [*lines, *path(rng, p, rtt), *rate(p, "ba", 200)], judge, "b", rng.choice(KERNELS), p)


def slow_start(rng):
    """A transfer that is over before its window has grown."""
    p, rtt = {}, rng.choice([60, 100, 150, 250])
    size = rng.choice([60, 100, 200, 400]) * 1000
    s, lines = transfer(rng, p, size)
    lines += [*rate(p, toward(s), 500), f"sysctl_{other(s)}=net.ipv4.tcp_rmem 4096 6291456 6291456"]

    def judge(seen):
        if not (seen.quiet and seen.finished()):
            return "not quiet"
        if seen.share("rwnd") > 0.1 or seen.share("sndbuf") > 0.1 or seen.info(seen.sender, "ssthresh") < 2**31 - 1:
            return "not slow start alone"
        return truth(must("slow_start"), budget={"under_way": (n_round_trips(size) - 1) * rtt / 1000, "handshake": seen.handshake()})
    return Case("slow-start", [*lines, *path(rng, p, rtt), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


KINDS = [(slow_server, 3), (no_answer, 2), (slow_client, 2), (nagle, 2), (small_window, 1), (quick_acks, 2), (receive_window, 3), (scaling_off, 2), (zero_window, 3),
         (send_buffer, 2), (after_idle, 2), (slow_start, 2)]
