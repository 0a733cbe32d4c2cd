"""Kinds of trouble at a connection's beginning and end."""

from case import KERNELS, Case, must, path, sometimes, truth

RTTS = [0.2, 1, 5, 10, 20, 40, 80, 120]


def small(rng, p):
    n = rng.randint(2, 8)
    return [f"a_script=(w200 r1000)*{n} c", f"b_script=(r200 w1000)*{n} d c", "steps=1"]


def syn_lost(rng):
    """One or more SYNs or SYN-ACKs are lost, before or behind the capture between."""
    p, lost = {}, rng.choice([1, 1, 1, 2])
    way, after = rng.choice(["ab", "ba"]), rng.choice(["", " after"])
    p.update(lost=lost, way=way)
    # A lost SYN-ACK shows everywhere: the client's SYN comes again. A lost SYN was never at the server.
    at = "a" + ("m" if way == "ba" or after else "") + ("b" if way == "ba" else "")

    def judge(seen):
        if len(seen.drops()) != lost or not seen.finished() or not seen.both("TCPSynRetrans") and way == "ab":
            return "not lost"
        return truth({"syn_retries": at}, budget={"handshake": seen.handshake()} if way == "ba" else {})
    return Case("syn-lost", [*small(rng, p), f"rule={way} syn n=1 k={lost}{after} drop", *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], judge, "b", rng.choice(KERNELS), p)


def nobody(rng):
    """SYNs into nothing."""
    p, after = {}, rng.choice(["", " after"])
    lines = ["a_script=w100 c", "b_script=d c", f"rule=ab syn{after} drop", "sysctl_a=net.ipv4.tcp_syn_retries 3", "max=20000000"]

    def judge(seen):
        return truth({"syn_retries": "am" if after else "a"}, ["black_hole", "artefacts"]) if len(seen.drops()) >= 3 else "not lost"
    return Case("syn-into-nothing", [*lines, *path(rng, p, rng.choice(RTTS))], judge, "a", rng.choice(KERNELS), p)


def refused(rng):
    p, n = {}, rng.choice([1, 1, 3])
    lines = ["a_script=w100 c", "no_listener=1", f"conns={n}", "stagger=100000"]

    def judge(seen):
        errors = [c["a"]["error"] for c in seen.raw["connections"]]
        return truth(must("refused"), ["reset"]) if all(e == 111 for e in errors) else "not refused"
    return Case("refused", [*lines, *path(rng, p, rng.choice(RTTS)), *sometimes(rng, p)], judge, "a", rng.choice(KERNELS), p)


def overflow(rng):
    """A server that accepts too late for the queue of its listener."""
    p, n, late = {}, rng.randint(4, 12), rng.choice([1500, 2500, 3500])
    backlog = rng.choice([0, 1, 2])
    p.update(backlog=backlog, connections=n, accepts_after_ms=late)
    speaks = rng.random() < 0.7
    client, server = ("w200 r500 c", "r200 w500 d c") if speaks else ("r500 w10 c", "w500 d c")
    lines = [f"conns={n}", "stagger=30000", f"backlog={backlog}", f"accept_after={late * 1000}", f"a_script={client}", f"b_script={server}", "steps=1"]

    def judge(seen):
        if seen.drops() or seen.count("b", "ListenOverflows") < 2:
            return "no overflow"
        return truth({"accept_queue": "b"}, ["accept_queue", "syn_retries", "slow_server", "rto", "tail_loss", "black_hole", "reset", "spurious_rto", "spurious_fast"],
                     one_of=[[["accept_queue", "syn_retries"], "am"]])
    return Case("accept-queue", [*lines, *path(rng, p, rng.choice([0.2, 1, 5, 20, 60])), *sometimes(rng, p)], judge, "a", rng.choice(KERNELS), p)


def reset(rng):
    """An end closes in the middle of a transfer, and its kernel resets the connection."""
    p = {}
    who = rng.choice("ab")
    cut = rng.choice([20, 60, 150]) * 1000
    closer, sender = (f"r{cut} R", "w1000000 c") if rng.random() < 0.6 else (f"w{cut} s50000 R", "d c")
    other = "b" if who == "a" else "a"

    def judge(seen):
        if seen.drops() or not seen.both("TcpOutRsts"):
            return "no reset"
        return truth(must("reset"))
    lines = [f"{who}_script={closer}", f"{other}_script={sender}", "rate_ab=50000", "rate_ba=50000", "steps=1"]
    return Case("reset", [*lines, *path(rng, p, rng.choice([1, 5, 20, 60])), *sometimes(rng, p)], judge, other, rng.choice(KERNELS), p)


def middlebox(rng):
    """Something between the ends resets both, with a time to live of its own."""
    p, n = {}, rng.randint(4, 10)
    way, at = rng.choice(["ab", "ba"]), rng.randint(2, 4)
    lines = [f"a_script=(w200 r3000 s20000)*{n} c", f"b_script=(r200 w3000)*{n} d c", f"rule={way} data n={at * (3 if way == 'ba' else 1)} reset", "steps=1"]

    def judge(seen):
        if not seen.done("reset") or seen.finished() or seen.both("TcpOutRsts") > 2:
            return "no reset"
        return truth(must("middlebox_reset"), ["reset", "rto", "tail_loss"])
    return Case("middlebox-reset", [*lines, *path(rng, p, rng.choice([5, 20, 60]))], judge, "b", rng.choice(KERNELS), p)


def silent_peer(rng):
    """The other end dies without a word; keep-alive notices."""
    p, idle = {}, rng.choice([1, 2])
    after = rng.choice(["", " after"])
    end, o = rng.choice([("a", "b"), ("b", "a")])
    way, back = ("ab", "ba") if end == "a" else ("ba", "ab")
    talk = ["a_script=w200 r1000 d c", "b_script=r200 w1000 d c"]
    lines = [*talk, f"{end}_keepalive_s={idle}", f"rule={way} packet t=600000-{after} drop", f"rule={back} packet t=600000- drop", "max=40000000", "steps=1"]
    at = end + ("m" if after else "")

    def judge(seen):
        if not seen.count(end, "TCPAbortOnTimeout") or not seen.count(end, "TCPKeepAlive"):
            return "keep-alive did not end it"
        return truth({"keepalive_death": at}, ["black_hole", "reset"])
    return Case("keepalive-death", [*lines, *path(rng, p, rng.choice([0.2, 5, 40]))], judge, end, rng.choice(KERNELS), p)


def dead_while_sending(rng):
    """The path or the peer is gone for good while data is under way."""
    p, s = {}, rng.choice("ab")
    o = "b" if s == "a" else "a"
    after = rng.choice(["", " after"])
    way, back = ("ab", "ba") if s == "a" else ("ba", "ab")
    lines = [f"{s}_script=(w20000 s100000)*40 c", f"{o}_script=d c", f"rule={way} packet t=1000000-{after} drop", f"rule={back} packet t=1000000- drop",
             f"max={rng.choice([8, 15]) * 1000000}", "steps=1"]

    def judge(seen):
        if seen.timeouts(s) < 3:
            return "too few timeouts"
        return truth({"black_hole": s + ("m" if after else "")}, ["rto", "tail_loss", "keepalive_death"])
    return Case("dead-peer", [*lines, *path(rng, p, rng.choice([1, 10, 60])), *sometimes(rng, p)], judge, s, rng.choice(KERNELS), p)


def stripped(rng):
    """A middle box takes an option off the SYN-ACK: the server believes in it, the client does not."""
    p, n = {}, rng.randint(8, 16)
    what = rng.choice([8, 4])
    p["option"] = {8: "time stamps", 4: "SACK permitted"}[what]
    lines = [f"a_script=(w200 r5000 s5000)*{n} c", f"b_script=(r200 w5000)*{n} d c", f"rule=ba syn strip={what}", "steps=1"]

    def judge(seen):
        if not seen.done("strip") or seen.drops():
            return "nothing was stripped"
        return truth({"option_removed": "am"}, ["option_removed"])
    return Case("option-removed", [*lines, *path(rng, p, rng.choice([1, 20, 60]))], judge, "b", rng.choice(KERNELS), p)


def stripped_elsewhere(rng):
    """The same either way, window scale too; always before the capture between."""
    p, n = {}, rng.randint(8, 16)
    what, way = rng.choice([3, 4, 8]), rng.choice(["ab", "ba"])
    p.update(option={3: "window scale", 4: "SACK permitted", 8: "time stamps"}[what], way=way)
    lines = [f"a_script=(w200 r5000 s5000)*{n} c", f"b_script=(r200 w5000)*{n} d c", f"rule={way} syn strip={what}", "steps=1"]
    # Where the option was seen to be offered and the answer came without it.
    at = "am" if way == "ba" else "a"

    def judge(seen):
        if not seen.done("strip") or seen.drops():
            return "nothing was stripped"
        return truth({"option_removed": at}, ["option_removed", "window_scaling", "receive_window"])
    return Case("option-removed-elsewhere", [*lines, *path(rng, p, rng.choice([1, 20, 60]))], judge, "b", rng.choice(KERNELS), p)


KINDS = [(syn_lost, 3), (nobody, 1), (refused, 2), (overflow, 2), (reset, 2), (middlebox, 2), (silent_peer, 2), (dead_while_sending, 2), (stripped, 1), (stripped_elsewhere, 1)]
