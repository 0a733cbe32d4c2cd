"""Families of the labelled corpus with loss, delay, closed windows, lost SYNs; and their harmless neighbours."""

from families import NOTHING, OLD, VIRTUAL, Case, bottleneck, nothing_if_quiet, other, path, sometimes, toward, truth

KERNELS = VIRTUAL + OLD


def bulk(rng, params, size=None, wait=True):
    """One side sends `size` bytes as fast as it may; the connection stays open for a while, or is closed at once."""
    s = rng.choice("ab")
    size = size or rng.choice([60, 120, 200, 300, 500]) * 1000
    params.update(workload="bulk", bytes=size)
    end = f"s{rng.choice([1500, 2500]) * 1000} c" if wait else "c"
    return s, size, [f"{s}_script=w{size} {end}", f"{other(s)}_script=d c"]


def wide(rng, params, s, lowest=4):
    """A bottleneck that never overflows in these transfers."""
    return bottleneck(params, toward(s), rng.choice([x for x in (4, 8, 10, 20, 50, 100) if x >= lowest]), 2000)


def bulk_clean(rng):
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([30, 100, 300, 800]) * 1000, rng.random() < 0.5)
    if rng.random() < 0.8:
        lines += wide(rng, p, s)
    lines += path(rng, p, None, rng.random() < 0.4) + sometimes(rng, p)
    if rng.random() < 0.3:  # limited by the receiver's window, which never closes
        lines.append(f"{other(s)}_rcvbuf={rng.choice([30000, 60000, 120000])}")
        p["window_limited"] = True
    return Case("bulk-clean", lines, lambda seen: NOTHING if seen.quiet and not seen.r("TCPToZeroWindowAdv") else None, s, rng.choice(KERNELS), p)


def random_loss_truth(seen):
    """Losses anywhere: what was really a stall is known from the counters, the place of a loss in its burst is not."""
    causes, allowed = set(), {"tail_loss"} if seen.timeouts or seen.s("TCPLossProbes") else set()
    if seen.timeouts:
        causes.add("rto_stall")
    if seen.s("TCPDSACKRecv"):
        allowed.add("spurious_retransmission_reordering")
        if seen.timeouts:
            allowed.add("spurious_rto")
    return truth(causes, allowed)


def bulk_random_loss(rng):
    p = {}
    s, _, lines = bulk(rng, p)
    ppm = rng.choice([1000, 3000, 10000, 20000, 50000])
    p["loss_ppm"] = ppm
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p), f"rule={toward(s)} data p={ppm} drop"]
    return Case("bulk-random-loss", lines, random_loss_truth, s, rng.choice(KERNELS), p)


def bulk_overflow(rng):
    """Losses by a short queue at the bottleneck."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([300, 600, 1000]) * 1000)
    lines += [*bottleneck(p, toward(s), rng.choice([2, 5, 10, 20]), rng.choice([10, 20, 40])), *path(rng, p, rng.choice([5, 20, 50, 100])), *sometimes(rng, p)]
    return Case("bulk-overflow", lines, lambda seen: random_loss_truth(seen) if seen.drops() else NOTHING if seen.quiet else None, s, rng.choice(KERNELS), p)


def middle_loss(rng):
    """One to three segments lost well before the end: fast retransmit, no stall, no tail."""
    p = {}
    s, size, lines = bulk(rng, p, rng.choice([200, 300, 500]) * 1000)
    at = rng.randint(60000, size - 90000)
    lost = rng.choice([1, 1, 2, 3])
    p["loss"] = f"{lost} segments from byte {at}, once"
    lines += [*wide(rng, p, s, 10), *path(rng, p), *sometimes(rng, p), f"rule={toward(s)} data seq={at}-{at + 1448 * lost} m={lost} drop"]

    def judge(seen):
        clean = len(seen.drops()) == lost and not seen.timeouts and not seen.s("TCPLossProbes") and seen.retrans == lost
        return NOTHING if clean else None
    return Case("middle-loss", lines, judge, s, rng.choice(KERNELS), p)


def tail_loss(rng):
    """The last segments of a response are lost: a tail loss probe, or a timeout."""
    p, n = {}, rng.randint(4, 10)
    segments, lost = rng.randint(4, 30), rng.choice([1, 1, 1, 2, 3])
    times = rng.choice([1, 1, 1, 2])
    reply, which = segments * 1448 - rng.choice([0, 0, 400, 1000]), rng.randint(1, n - 1)
    end = (which + 1) * reply
    p.update(workload="request/response", reply=reply, requests=n, loss=f"last {lost} segments of response {which + 1}, {times} times")
    start = end - lost * 1448 + (0 if reply % 1448 == 0 else 1448 - reply % 1448)
    pause = rng.choice([20, 100, 300])
    lines = [f"a_script=(w200 r{reply} s{pause * 1000})*{n} c", f"b_script=(r200 w{reply})*{n} d c",
             f"rule=ba data seq={start}-{end} m={lost * times} drop"]
    lines += path(rng, p, rng.choice([0.2, 1, 5, 20, 50, 80, 100, 150, 200])) + sometimes(rng, p)

    def judge(seen):
        if len(seen.drops()) < lost or seen.s("TCPFastRetrans") + seen.s("TCPSackRecovery") and not (seen.s("TCPLossProbes") or seen.timeouts):
            return None
        causes = {"tail_loss"} | ({"rto_stall"} if seen.timeouts else set())
        return truth(causes)
    return Case("tail-loss", lines, judge, "b", rng.choice(KERNELS), p)


def bulk_tail_loss(rng):
    """The last segments of a whole transfer are lost."""
    p = {}
    s, size, lines = bulk(rng, p, rng.choice([40, 100, 200]) * 1448)
    lost = rng.choice([1, 1, 2, 4])
    p["loss"] = f"last {lost} segments, once"
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p), f"rule={toward(s)} data seq={size - lost * 1448}-{size} m={lost} drop"]

    def judge(seen):
        if len(seen.drops()) != lost or not (seen.s("TCPLossProbes") or seen.timeouts):
            return None
        return truth({"tail_loss"} | ({"rto_stall"} if seen.timeouts else set()))
    return Case("bulk-tail-loss", lines, judge, s, rng.choice(KERNELS), p)


def outage(rng):
    """For a while nothing gets through, one way or both: timeouts."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([300, 500, 800]) * 1000)
    rtt = rng.choice([0.2, 1, 5, 20, 50, 80, 100, 150, 200])
    start = int(4 * rtt + rng.randint(60, 120))
    length = rng.choice([300, 500, 800, 1500, 3000]) + int(4 * rtt)
    both = rng.random() < 0.4
    p["outage_ms"] = [start, start + length]
    window = f"t={start * 1000}-{(start + length) * 1000}"
    lines += [*bottleneck(p, toward(s), rng.choice([4, 8]), 2000), *path(rng, p, rtt), *sometimes(rng, p), f"rule={toward(s)} packet {window} drop"]
    if both:
        lines.append(f"rule={toward(other(s))} packet {window} drop")

    def judge(seen):
        if not seen.timeouts or not seen.drops(seen.dir):
            return None
        if seen.s("TCPLossUndo") or seen.s("TCPSpuriousRTOs"):  # the ACKs were lost too: the kernel itself took it for spurious
            return truth(one_of=[["rto_stall", "spurious_rto"]], allowed=["tail_loss"])
        return truth(["rto_stall"], ["tail_loss", "spurious_rto"] if both or seen.s("TCPDSACKRecv") else ["tail_loss"])
    return Case("outage", lines, judge, s, rng.choice(KERNELS), p)


def lone_request_lost(rng):
    """A request of one segment is lost now and then: only the timer can help (or a probe on a long path)."""
    p, n = {}, rng.randint(5, 15)
    which = sorted(rng.sample(range(2, n + 1), rng.choice([1, 1, 2])))
    p.update(workload="request/response", requests=n, loss=f"request {which}, once each")
    lines = [f"a_script=(w200 r500 s{rng.choice([50, 200, 500]) * 1000})*{n} c", f"b_script=(r200 w500)*{n} d c"]
    lines += [f"rule=ab data seq={200 * (w - 1)}-{200 * w} m=1 drop" for w in which]
    lines += path(rng, p) + sometimes(rng, p)

    def judge(seen):
        if len(seen.drops()) != len(which):
            return None
        if seen.timeouts:  # timeout and probe of a lone segment come at the same time, so that the words differ only
            return truth(one_of=[["rto_stall", "tail_loss"]])
        return truth(allowed=["tail_loss", "rto_stall"]) if seen.s("TCPLossProbes") else None
    return Case("lone-request-lost", lines, judge, "a", rng.choice(KERNELS), p)


def delay_spike(rng):
    """The path stands still and loses nothing."""
    p = {}
    rtt = rng.choice([0.2, 1, 5, 20, 50, 80, 100, 150])
    s, _, lines = bulk(rng, p, rng.choice([300, 500, 800]) * 1000)
    start, length = int(4 * rtt + rng.randint(60, 120)), rng.choice([50, 100, 350, 500, 800, 1200]) + int(3 * rtt)
    data_side = rng.random() < 0.7
    direction = toward(s if data_side else other(s))
    p["stands_still_ms"] = [start, start + length, direction]
    lines += [*bottleneck(p, toward(s), rng.choice([4, 8]), 2000), *path(rng, p, rtt), *sometimes(rng, p),
              f"rule={direction} packet t={start * 1000}-{(start + length) * 1000} hold={length * 1000}"]

    def judge(seen):
        if seen.drops():
            return None
        if seen.timeouts:
            told = p.get("timestamps", True) or p.get("sack", True)  # DSACK or time stamps tell, one of them is needed
            late = ["spurious_rto"] if data_side else []  # behind the hold both copies come at once
            return truth(["spurious_rto"], ["rto_stall"], only_at_sender=late) if told else \
                truth(one_of=[["spurious_rto", "rto_stall"]], only_at_sender=late)
        return truth() if not seen.retrans else truth(allowed=["tail_loss"])
    return Case("delay-spike", lines, judge, s, rng.choice(KERNELS), p)


def reordering(rng):
    p = {}
    rtt = rng.choice([1, 5, 10, 20, 50, 80, 100, 150, 200])
    s, size, lines = bulk(rng, p, rng.choice([200, 300, 500]) * 1000)
    late = max(1.0, rtt * rng.choice([0.1, 0.3, 0.5, 0.6, 0.8]))
    if rng.random() < 0.6:
        places = [rng.randint(30, 100) for _ in range(rng.randint(1, 3))]
        lines += [f"rule={toward(s)} data n={x} delay={int(late * 1000)}" for x in places]
        p["late"] = f"segments {places} by {late} ms"
    else:
        ppm = rng.choice([5000, 20000])
        lines.append(f"rule={toward(s)} data p={ppm} delay={int(late * 1000)}")
        p["late"] = f"{ppm} ppm by {late} ms"
    lines += [*wide(rng, p, s, 10), *path(rng, p, rtt), *sometimes(rng, p)]

    def judge(seen):
        if seen.drops() or seen.timeouts:
            return None
        if seen.s("TCPFastRetrans") and seen.s("TCPDSACKRecv"):
            return truth(["spurious_retransmission_reordering"])
        if seen.s("TCPFastRetrans"):
            return truth(allowed=["spurious_retransmission_reordering"])
        return NOTHING if not seen.retrans else None
    return Case("reordering", lines, judge, s, rng.choice(KERNELS), p)


def duplicated(rng):
    """The network doubles packets: DSACKs, though nobody retransmitted."""
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([100, 300]) * 1000)
    p["doubled_ppm"] = rng.choice([5000, 30000])
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p), f"rule={toward(s)} data p={p['doubled_ppm']} dup"]
    doubles = truth(allowed_behind=["capture_artefacts"])
    return Case("duplicated", lines, lambda seen: doubles if seen.quiet else None, s, rng.choice(KERNELS), p)


def ack_loss(rng):
    p = {}
    s, _, lines = bulk(rng, p)
    p["ack_loss_ppm"] = rng.choice([10000, 50000, 200000])
    lines += [*wide(rng, p, s), *path(rng, p), *sometimes(rng, p), f"rule={toward(other(s))} ack p={p['ack_loss_ppm']} drop"]

    def judge(seen):
        if seen.timeouts:
            return truth(one_of=[["rto_stall", "spurious_rto"]], allowed=["tail_loss", "rto_stall", "spurious_rto"])
        return NOTHING if not seen.retrans else truth(allowed=["tail_loss", "spurious_retransmission_reordering"])
    return Case("ack-loss", lines, judge, s, rng.choice(KERNELS), p)


def marked(rng):
    p = {}
    s, _, lines = bulk(rng, p, rng.choice([200, 500]) * 1000)
    p["ce_ppm"] = rng.choice([5000, 50000])
    lines += ["sysctl_a=net.ipv4.tcp_ecn 1", "sysctl_b=net.ipv4.tcp_ecn 1", *wide(rng, p, s), *path(rng, p), f"rule={toward(s)} data p={p['ce_ppm']} mark"]
    return Case("ecn", lines, nothing_if_quiet, s, rng.choice(KERNELS), p)


# ---- handshake, windows, black holes ------------------------------------------------------------------------------

def syn_lost(rng):
    p, k = {}, rng.choice([1, 1, 2, 3])
    what = rng.choice(["syn", "syn", "syn-ack"])
    p.update(workload="request/response", loss=f"first {k} {what}")
    rule = f"rule={'ab' if what == 'syn' else 'ba'} syn n=1 k={k} drop"
    lines = ["a_script=(w200 r1000 s50000)*5 c", "b_script=(r200 w1000)*5 d c", rule, *path(rng, p), *sometimes(rng, p)]

    def judge(seen):
        if seen.count("a", "TcpExtTCPSynRetrans") + seen.count("b", "TcpExtTCPSynRetrans") == 0:
            return None
        extra = ["rto_stall"] if seen.timeouts else []
        return {**truth(["syn_retries"], extra), "server_blind": what == "syn"}
    return Case("syn-lost", lines, judge, "a", rng.choice(KERNELS), p)


def syn_unanswered(rng):
    p = {"loss": "every SYN", "workload": "connect"}
    lines = ["a_script=w200 r1000 c", "b_script=r200 w1000 d c", "rule=ab syn drop", f"max={rng.choice([4, 8, 20, 40]) * 1000000}", *path(rng, p), *sometimes(rng, p)]
    return Case("syn-unanswered", lines, lambda seen: truth(["syn_retries"], ["black_hole", "capture_artefacts"]) if seen.count("a", "TcpExtTCPSynRetrans") else None,
                "a", rng.choice(KERNELS), p, points=("a",))


def refused(rng):
    p = {"workload": "connect to a closed port"}
    lines = ["a_script=w200 r1000 c", "no_listener=1", *path(rng, p), *sometimes(rng, p)]
    return Case("refused", lines, nothing_if_quiet, "a", rng.choice(KERNELS), p)


def zero_window(rng):
    """The reader stops for a while, more than once."""
    p = {}
    rtt = rng.choice([0, 0.2, 1, 5, 20, 50, 100, 200])
    s = rng.choice("ab")
    pauses, length = rng.choice([1, 1, 2, 3]), rng.choice([400, 700, 1500, 3000]) + 4 * int(rtt)
    buffer = rng.choice([10000, 30000, 60000, 0])
    size = 400000 if not buffer else rng.choice([200000, 400000])
    p.update(workload="bulk", bytes=size, reader=f"{pauses} pauses of {length} ms")
    lines = [f"{s}_script=w{size} c", f"{other(s)}_script=(r20000 s{length * 1000})*{pauses} d c", *path(rng, p, rtt), *sometimes(rng, p)]
    if buffer:
        lines.append(f"{other(s)}_rcvbuf={buffer}")

    def judge(seen):
        if seen.drops() or seen.timeouts or not seen.r("TCPToZeroWindowAdv"):
            return None
        return truth(["zero_window_stall"]) if seen.s("TCPWinProbe") else truth(allowed=["zero_window_stall"])
    return Case("zero-window", lines, judge, s, rng.choice(KERNELS), p)


def steady_reader(rng):
    """A reader slower than the path: the window closes again and again."""
    p = {}
    s = rng.choice("ab")
    chunk, every = rng.choice([2000, 5000, 20000]), rng.choice([10, 50, 100])
    p.update(workload="bulk", reader=f"{chunk} bytes each {every} ms")
    lines = [f"{s}_script=w150000 c", f"{other(s)}_script=(u{chunk} p{every * 1000})*2000 d c", f"{other(s)}_rcvbuf={rng.choice([20000, 60000])}", *path(rng, p), "max=20000000"]

    def judge(seen):
        if seen.drops() or seen.timeouts:
            return None
        if seen.r("TCPToZeroWindowAdv"):
            return truth(["zero_window_stall"]) if seen.s("TCPWinProbe") else truth(allowed=["zero_window_stall"])
        return NOTHING
    return Case("steady-reader", lines, judge, s, rng.choice(KERNELS), p)


def mtu_black_hole(rng):
    p = {}
    big = rng.choice([1300, 1400, 1450, 1492])
    s = rng.choice("ab")
    p.update(workload="request/response", loss=f"frames over {big} bytes")
    # The response is larger than the hole lets through; requests are small.
    ask = f"{other(s)}_script=(w200 r500 s20000)*3 w200 d"
    lines = [f"{s}_script=(r200 w500)*3 r200 w{rng.choice([5000, 20000, 60000])} s30000000 c", ask, *path(rng, p), *sometimes(rng, p),
             f"rule={toward(s)} packet big={big} drop", f"max={rng.choice([5, 10, 20]) * 1000000}"]

    def judge(seen):
        if seen.timeouts < 2:
            return None
        return truth(["black_hole"], ["rto_stall", "tail_loss"])
    return Case("mtu-black-hole", lines, judge, s, rng.choice(KERNELS), p)


def dead_path(rng):
    """From some moment on nothing arrives any more, until the capture ends."""
    p = {}
    s, _, lines = bulk(rng, p, 3000000)
    rtt = rng.choice([0.2, 1, 5, 20, 50, 100, 200])
    start = int(4 * rtt + rng.randint(60, 200))
    p["dead_from_ms"] = start
    lines += [*bottleneck(p, toward(s), 8, 2000), *path(rng, p, rtt), *sometimes(rng, p), f"rule=ab packet t={start * 1000} drop", f"rule=ba packet t={start * 1000} drop",
              f"max={rng.choice([6, 12, 25]) * 1000000}"]
    return Case("dead-path", lines, lambda seen: truth(["black_hole"], ["rto_stall", "tail_loss"]) if seen.s("TCPTimeouts") >= 3 else None, s, rng.choice(KERNELS), p)
