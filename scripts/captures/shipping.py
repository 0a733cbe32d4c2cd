#!/usr/bin/env python3
"""Makes the captures that ship in tests/captures, and their README: shipping.py [NAME...]

Each is sent by real kernels over the laboratory's link (see README.md here). A capture whose kernel counters do not
show the cause it is meant to show is not written.
"""

import json
import shutil
import sys

import corpus
import families
import icmp
import labrun
import resets

OUT = labrun.HERE.parent.parent / "tests" / "captures"
WORK = labrun.CACHE / "shipping"


def stream(n, size, interval_ms, nodelay=True):
    """The server writes, the client only reads."""
    return [f"b_script=(p{interval_ms * 1000} w{size})*{n} c", f"b_nodelay={int(nodelay)}"]


def delay(rtt_ms):
    """The path's delay, half of it each way."""
    return [f"delay_ab={rtt_ms * 500}", f"delay_ba={rtt_ms * 500}"]


def rate(mbit, packets):
    """The bottleneck from server to client."""
    return [f"rate_ba={mbit * 1000}", f"queue_ba={packets}"]


# name, kernel, scenario, capture points (a: client, b: server), how it was made, counters (host, name, lowest, highest)
CAPTURES = [
    ("quickack-5.10.46", "debian-5.10", [*stream(60, 1024, 100)], "ab",
     "server writes 1024 bytes each 100 ms, client only reads; the client's kernel leaves quick-ACK mode after 16 segments",
     [("a", "TcpExtDelayedACKs", 40, 44), ("b", "TcpRetransSegs", 0, 0)]),
    ("quickack-6.1.176", "debian-6.1", [*stream(60, 1024, 100)], "ab",
     "the same on a kernel after the fix: no delayed ACK",
     [("a", "TcpExtDelayedACKs", 0, 0)]),
    ("quickack-rtt50-hz1000", "uml-6.1-hz1000-old", [*stream(60, 1024, 100), *delay(50)], "ab",
     "the same over a path of 50 ms, HZ=1000, with the behaviour of 6.1.56: 40 ms on top of the path's delay",
     [("a", "TcpExtDelayedACKs", 40, 44)]),
    ("slow-writes-6.1.56", "uml-6.1-hz250-old", [*stream(40, 1024, 400)], "a",
     "the kernel before the fix again, but writes 400 ms apart, longer than the receiver's RTO: quick ACKs never end",
     [("a", "TcpExtDelayedACKs", 0, 0)]),
    ("write-write-read", "host", ["a_script=(w200 w300 r600 s60000)*12 c", "b_script=(r500 w600)*12 d", *delay(2)], "ab",
     "client writes header (200 bytes) and body (300) apart, server answers with 600: Nagle holds the body until the delayed ACK",
     [("b", "TcpExtDelayedACKs", 8, 12)]),
    ("request-held", "uml-6.1-hz250",
     ["a_script=(w3500 r200 s1000000)*12 c", "b_script=(r3500 w200)*12 d c", "a_nodelay=1", "b_quickack_each=0", "route_initcwnd_a=1", *delay(2)], "ab",
     "requests of 3500 bytes from a client whose congestion window begins at one segment after each pause; the server delays its ACKs (TCP_QUICKACK 0)",
     [("b", "TcpExtDelayedACKs", 8, 12), ("a", "TcpRetransSegs", 0, 0)]),
    ("bulk-clean", "host", ["a_script=d", "b_script=w250000 c", *delay(100), *rate(10, 1000)], "ab",
     "server sends 250 kB over 10 Mbit/s and 100 ms with a long queue: nothing is lost, the round trip grows by queueing",
     [("b", "TcpRetransSegs", 0, 0)]),
    ("bulk-loss", "host",
     ["a_script=d", "b_script=w300000 s600000 c", *delay(30), *rate(20, 200), "rule=ba data n=40 drop", "rule=ba data seq=299800-300000 m=1 drop"], "ab",
     "server sends 300 kB over 20 Mbit/s and 30 ms; one segment lost in the middle (fast retransmit) and the last one (tail loss probe)",
     [("b", "TcpRetransSegs", 2, 3), ("b", "TcpExtTCPLossProbes", 1, 2), ("b", "TcpExtTCPTimeouts", 0, 0)]),
    ("bulk-rto", "host",
     ["a_script=d", "b_script=w300000 c", *delay(40), *rate(10, 200), "rule=ba packet t=200000-1200000 drop"], "ab",
     "server sends 300 kB; from 0.2 s to 1.2 s everything from the server is lost: retransmission timeouts with back-off",
     [("b", "TcpExtTCPTimeouts", 2, 4)]),
    ("zero-window", "host", ["a_script=r20000 s1500000 d", "b_script=w200000 c", "a_rcvbuf=30000", *delay(10)], "ab",
     "client stops reading for 1.5 s: zero window, probes, window update",
     [("a", "TcpExtTCPToZeroWindowAdv", 1, 9), ("b", "TcpExtTCPWinProbe", 1, 20)]),
    ("syn-retries", "debian-6.1", ["a_script=w100 r100 c", "b_script=r100 w100 d", *delay(20), "rule=ab syn n=1 k=2 drop"], "ab",
     "the first two SYNs are lost: retries after 1 s and 3 s, then a request and its response",
     [("a", "TcpExtTCPSynRetrans", 2, 2)]),
    ("syn-no-answer", "host", ["a_script=w100 r100 c", "max=16000000", "rule=ab syn drop after", "points=a,mid"], "a",
     "no SYN is ever answered: a host that drops them (this kernel retries four times at one second before it backs off)",
     [("a", "TcpExtTCPSynRetrans", 3, 8)]),
    ("super-segments", "host", ["a_script=d", "b_script=w400000 c", *delay(10), *rate(50, 500), "offload=1"], "b",
     "server sends 400 kB with TSO, captured at the server: segments larger than the wire's",
     [("b", "TcpRetransSegs", 0, 0)]),
    ("reordering", "host",
     ["a_script=d", "b_script=w200000 c", *delay(40), *rate(20, 200), "rule=ba data n=50 delay=25000", "rule=ba data n=80 delay=30000"], "ab",
     "two segments arrive 25 and 30 ms late, nothing is lost: needless retransmissions, answered with DSACK",
     [("b", "TcpRetransSegs", 1, 9), ("b", "TcpExtTCPDSACKRecv", 1, 9)]),
    ("spurious-rto", "host",
     ["a_script=d", "b_script=w300000 c", *delay(30), *rate(10, 200), "rule=ba packet t=150000-750000 hold=600000"], "ab",
     "the path stands still for 0.6 s and loses nothing: a timeout that was not needed",
     [("b", "TcpExtTCPTimeouts", 1, 2)]),
    ("black-hole-mtu", "host",
     ["a_script=w200 d", "b_script=r200 w20000 c", *delay(20), "rule=ba packet big=1400 drop after", "max=8000000"], "ab",
     "frames over 1400 bytes never arrive and nobody says so: a path-MTU black hole",
     [("b", "TcpExtTCPTimeouts", 2, 9)]),
    ("request-response-clean", "uml-6.1-hz250", ["a_script=(w300 r2000 j30000)*60 c", "b_script=(r300 j5000 w2000)*60 d", *delay(80), "ipv6=1"], "a",
     "requests and responses over IPv6 and 80 ms, nothing wrong",
     [("b", "TcpRetransSegs", 0, 0), ("a", "TcpRetransSegs", 0, 0)]),
    ("slow-server", "uml-6.1-hz250", ["a_script=(w200 r600)*10 c", "b_script=(r200 s40000 w600)*10 d c", *delay(30)], "ab",
     "the server sleeps 40 ms before each answer: not TCP",
     [("b", "TcpRetransSegs", 0, 0), ("a", "TcpRetransSegs", 0, 0)]),
    ("accept-queue", "uml-6.1-hz250",
     ["a_script=w200 r10 c", "b_script=r200 w10 d c", "conns=7", "stagger=1000", "backlog=4", "accept_after=5000000", *delay(10)], "b",
     "seven connections at once to a server that accepts none for 5 s, with a queue for five",
     [("b", "TcpExtListenOverflows", 1, 99)]),
    ("small-window", "uml-6.1-hz250", ["a_script=d c", "b_script=w70000 c", "a_rcvbuf=8192", *delay(40)], "ab",
     "server sends 70 kB over 40 ms to a client whose receive buffer is set to 8 kB",
     [("b", "TcpRetransSegs", 0, 0)]),
    ("peer-gone", "uml-6.1-hz250",
     ["a_script=w200 r600 s20000000 c", "b_script=r200 w600 s30000000 c", "a_keepalive_s=1", "max=14000000", *delay(20),
      "rule=ab packet t=2000000-60000000 drop", "rule=ba packet t=2000000-60000000 drop"], "a",
     "the path breaks while the connection is idle; the client's keep-alives are not answered",
     [("a", "TcpExtTCPKeepAlive", 3, 20)]),
    ("small-mss", "host", ["a_script=d", "b_script=w60000 c", "mtu=1000", *delay(20)], "ab",
     "server sends 60 kB between interfaces with an MTU of 1000: both ends announce an MSS of 960",
     [("b", "TcpRetransSegs", 0, 0)]),
    ("mss-1220", "host", ["a_script=d", "b_script=w60000 c", "mtu=1260", *delay(20)], "a",
     "the same with an MTU of 1260: an MSS of 1220, which any path of IPv6 carries",
     [("b", "TcpRetransSegs", 0, 0)]),
    ("small-mss-small-writes", "host", ["a_script=(w100 r300)*60 c", "b_script=(r100 w300)*60 d c", "mtu=1000", *delay(20)], "a",
     "an MSS of 960 again, but requests of 100 and responses of 300 bytes: no segment is full",
     [("a", "TcpRetransSegs", 0, 0), ("b", "TcpRetransSegs", 0, 0)]),
]


def check(name, raw, counters):
    """Ends the program when the kernels' counters do not show what the capture is for."""
    for host, counter, low, high in counters:
        value = raw["counters"][host].get(counter, 0)
        if not low <= value <= high:
            raise SystemExit(f"{name}: {counter} of {host} is {value}, wanted {low}..{high}: {json.dumps(raw['counters'])}")


def readme_line(name, point, kernel, raw, text):
    """One line of the folder's README."""
    where = {"a": "at the client", "b": "at the server"}[point]
    hz = labrun.hz_of(kernel)
    release = raw["kernel"].split("-")[0]
    edited = " with the behaviour of 6.1.56" if kernel.endswith("-old") else ""
    source = {"host": "own kernel, namespaces", "debian-5.10": "Debian user-mode-linux", "debian-6.1": "Debian user-mode-linux"}.get(kernel, "linux-source-6.1 as User-Mode Linux, virtual time")
    return f"| `{name}.{point}.pcap` | {release}{edited}, HZ={hz} ({source}) | {where} | {text} |\n"


HEAD = """# Captures that ship

Real kernels sent these packets over the capture laboratory's link (`scripts/captures`); no one else's traffic is in them. `scripts/captures/shipping.py`
makes them again and checks each against the kernels' own counters (times and sequence numbers differ from run to run). Client 10.77.0.1, server
10.77.0.2 port 5001, 96 bytes kept of each frame, nanosecond stamps. A pair `X.a` / `X.b` is one connection seen at both ends, by one clock.
`labels.json` holds what each was made with: kernel, HZ, path, scenario, what the link did, the kernels' counters, and the findings that are true
as far as the capture can show them (`causes` must be found, `allowed` may be).
Those of `icmp.py` passed a router: client 10.77.0.1 or fd77::1, server 10.77.1.2 or fd77:1::2, 128 bytes kept of each frame.
`cuts.json`, written by hand, says for each capture with a cause which ways of cutting it leave the cause in the packets, and why not.

| file | kernel of both hosts | captured | how it was made |
|---|---|---|---|
"""

CAUSES = {
    "quickack-5.10.46": ["quickack_exhausted"], "quickack-rtt50-hz1000": ["quickack_exhausted"], "write-write-read": ["delack_nagle"],
    "request-held": ["delack_request_response"], "bulk-loss": ["loss", "tail_loss"], "bulk-rto": ["rto_stall"], "zero-window": ["zero_window_stall"], "syn-retries": ["syn_retries"],
    "syn-no-answer": ["syn_retries"], "reordering": ["spurious_retransmission_reordering"],
    "spurious-rto": ["spurious_rto"], "black-hole-mtu": ["black_hole"],
    "slow-server": ["slow_server"], "accept-queue": ["accept_queue_overflow"], "small-window": ["receive_window_limited"], "peer-gone": ["keepalive_death"],
    "small-mss": ["small_mss"],
}
ALLOWED = {"syn-no-answer": ["black_hole", "capture_artefacts"], "spurious-rto": ["rto_stall"], "bulk-rto": ["tail_loss"], "write-write-read": ["delack_request_response"], "black-hole-mtu": ["rto_stall", "tail_loss"], "accept-queue": ["slow_server"]}

# What one of the two captures shows, too.
SHOWN = {"bulk-rto.a": ["rto_stall"], "reordering.a": ["reordering"]}

CLIENT_SENDS = {"write-write-read", "request-held", "syn-retries", "syn-no-answer", "peer-gone", "small-mss-small-writes"}


def main(names):
    OUT.mkdir(parents=True, exist_ok=True)
    labels_file = OUT / "labels.json"
    labels = json.loads(labels_file.read_text()) if labels_file.exists() else {}
    for number, (name, kernel, scenario, points, text, counters) in enumerate(CAPTURES, 1):
        if names and name not in names:
            continue
        raw = labrun.run(kernel, scenario, WORK / name, seed=number)
        check(name, raw, counters)
        case = families.Case(name, scenario, families.nothing_if_quiet, "a" if name in CLIENT_SENDS else "b", kernel)
        told = {**families.truth(CAUSES.get(name, []), ALLOWED.get(name, [])), "server_blind": name == "syn-retries"}
        for point in points:
            file = f"{name}.{point}.pcap"
            shutil.copyfile(WORK / file, OUT / file)
            artefact = "super-segments" if name == "super-segments" else None
            causes, allowed, _ = corpus.label_for(case, told, raw, point, artefact)
            shown = SHOWN.get(f"{name}.{point}", [])
            causes, allowed = sorted({*causes, *shown}), [i for i in allowed if i not in shown]
            labels[file] = {
                "kernel": raw["kernel"] + ("+before-6.1.57" if kernel.endswith("-old") else ""), "hz": labrun.hz_of(kernel), "captured_at": point,
                "causes": causes, "allowed": allowed, "scenario": scenario,
                "link": raw["happenings"][:100], "counters": raw["counters"], "readme": readme_line(name, point, kernel, raw, text),
            }
        sizes = {f: (OUT / f).stat().st_size for f in (f"{name}.{p}.pcap" for p in points)}
        labrun.say(f"{sizes}")
    write(labels)


def write(new):
    """Writes README.md and labels.json, with these entries new."""
    labels_file = OUT / "labels.json"
    labels = {**(json.loads(labels_file.read_text()) if labels_file.exists() else {}), **new}
    order = [f"{c[0]}.{p}.pcap" for c in CAPTURES for p in c[3]] + [f"{c[0]}.{c[1]}.pcap" for c in (*icmp.CAPTURES, *resets.CAPTURES)]
    (OUT / "README.md").write_text(HEAD + "".join(labels[f]["readme"] for f in order if f in labels))
    labels_file.write_text(json.dumps({f: labels[f] for f in order if f in labels}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
