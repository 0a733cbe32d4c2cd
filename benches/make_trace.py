#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes the trace that the benchmarks of `tcplab analyze` read, and the truth beside it.

This machine's kernel sends real TCP through three network namespaces

    sender (captured here) ----- router ----- receiver
                                  tbf with a short queue towards the receiver

first some bulk flows, which lose and retransmit, then many short connections whose ports are reused. The
capture is taken at the sender, before the queue that drops, so each retransmission of the sender is in it
and the kernel's own counters (TcpRetransSegs and others) say how many there are. Offloads are off: a frame
is what a wire would carry. All namespaces are anonymous and live as long as this process: nothing is left
behind, also after kill -9. Needs root, or unprivileged user namespaces.

Writes OUT/trace.pcap (about 2 million packets, 1.7 GB) and OUT/trace.json, in about two minutes.
"""

import argparse
import json
import mmap
import os
import platform
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PORT = 5201
# Rate in Mbit/s and queue in bytes of the bottleneck. For the short connections it is nearly full, so that some
# of them lose their last segment, their SYN-ACK or their FIN: tail loss probes, timeouts.
BULK = (500, 400_000)
SHORT = (125, 40_000)
COUNTERS = {
    "Tcp": ["ActiveOpens", "PassiveOpens", "RetransSegs", "InSegs", "OutSegs", "EstabResets"],
    "TcpExt": ["TCPLossProbes", "TCPLossProbeRecovery", "TCPTimeouts", "TCPFastRetrans", "TCPSlowStartRetrans",
               "TCPLostRetransmit", "TCPSynRetrans", "TCPRetransFail", "TCPSpuriousRTOs", "TCPSpuriousRtxHostQueues",
               "TCPDSACKRecv", "TCPDSACKOldSent", "DelayedACKs", "TW", "TWRecycled", "TCPTimeWaitOverflow"],
}


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def inside(namespace, *words):
    return ["ip", "netns", "exec", namespace, *words]


def sysctl(namespace, **values):
    run(*inside(namespace, "sysctl", "-q", "-w", *[f"net.ipv4.{k}={v}" for k, v in values.items()]))


def counters(namespace):
    """The kernel's TCP counters of one namespace, by their nstat names."""
    words = inside(namespace, "cat", "/proc/net/snmp", "/proc/net/netstat")
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2]):
        group = names.split(":")[0]
        both = dict(zip(names.split()[1:], values.split()[1:]))
        for name in COUNTERS.get(group, []):
            if name in both:
                found[group + name] = int(both[name])
    return found


def join(one, two, left, right):
    """A veth pair between namespaces `one` and `two`; each frame as large as on a wire, checksums filled in."""
    dev_one, dev_two = f"to-{two}", f"to-{one}"
    run("ip", "link", "add", dev_one, "netns", one, "type", "veth", "peer", "name", dev_two, "netns", two)
    for namespace, device, address in ((one, dev_one, left), (two, dev_two, right)):
        run(*inside(namespace, "ethtool", "-K", device, "gro", "off", "gso", "off", "tso", "off", "tx", "off", "rx", "off"))
        run(*inside(namespace, "ip", "address", "add", f"{address}/24", "dev", device))
        run(*inside(namespace, "ip", "link", "set", device, "up"))


def bottleneck(verb, link, slower):
    rate, queue = link
    run(*inside("router", "tc", "qdisc", verb, "dev", "to-receiver", "root", "tbf", "rate", f"{rate / slower:.0f}mbit",
                "burst", "16k", "limit", str(queue)))


def build_network():
    # Our own mount namespace: the names of the namespaces are seen by nobody else.
    run("mount", "-t", "tmpfs", "tcplab-bench", "/run")
    os.makedirs("/run/netns")
    for namespace in ("sender", "router", "receiver"):
        run("ip", "netns", "add", namespace)
        run(*inside(namespace, "sysctl", "-q", "-w", "net.ipv6.conf.all.disable_ipv6=1",
                    "net.ipv6.conf.default.disable_ipv6=1"))
        run(*inside(namespace, "ip", "link", "set", "lo", "up"))
    join("sender", "router", "10.7.1.1", "10.7.1.2")
    join("router", "receiver", "10.7.2.2", "10.7.2.1")
    sysctl("router", ip_forward=1)
    run(*inside("sender", "ip", "route", "add", "default", "via", "10.7.1.2"))
    run(*inside("receiver", "ip", "route", "add", "default", "via", "10.7.2.2"))
    for namespace in ("sender", "receiver"):
        sysctl(namespace, tcp_no_metrics_save=1, tcp_max_syn_backlog=4096)
    # 28,232 ports for 60,000 connections: four-tuples come back.
    sysctl("receiver", ip_local_port_range="32768 60999", tcp_tw_reuse=1)
    bottleneck("add", BULK, 1)


def fetch(load, count, per_second, in_flight, low, high, seed):
    words = [str(load), "fetch", "10.7.1.1", PORT, count, per_second, in_flight, low, high, seed]
    done = subprocess.run(inside("receiver", *map(str, words)), capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        sys.exit(f"make_trace: the load failed: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def capture(path):
    words = ["tcpdump", "-i", "to-router", "-n", "-s", "0", "-B", "524288", "-Z", "root", "-w", str(path)]
    dump = subprocess.Popen(inside("sender", *words), stderr=subprocess.PIPE, text=True)
    dump.stderr.readline()  # "listening on ...": from here on nothing is missed
    return dump


def stop_capture(dump):
    """Ends tcpdump and gives what it says it captured and dropped."""
    dump.send_signal(signal.SIGINT)
    said = dump.communicate(timeout=120)[1]
    numbers = dict((name, int(n)) for n, name in re.findall(r"(\d+) packets? (captured|received|dropped by kernel)", said))
    return numbers.get("captured", 0), numbers.get("dropped by kernel", -1)


def attempt(args, load, path, slower):
    """One run of the load; None when the capture lost packets."""
    bottleneck("change", BULK, slower)
    before = {n: counters(n) for n in ("sender", "receiver")}
    dump = capture(path)
    began = time.monotonic()
    server = subprocess.Popen(inside("sender", str(load), "serve", str(PORT)))
    try:
        time.sleep(0.2)
        bulk = fetch(load, args.flows, 0, args.flows, args.bulk_bytes, args.bulk_bytes, 1)
        bottleneck("change", SHORT, slower)
        short = fetch(load, args.connections, args.per_second / slower, 256, 300, 10_000, 2)
        time.sleep(3)  # the last FINs, and their retransmissions
    finally:
        server.kill()
        server.wait()
    captured, dropped = stop_capture(dump)
    if dropped != 0:
        return None
    after = {n: counters(n) for n in before}
    return {
        "packets": captured,
        "dropped_by_capture": dropped,
        "seconds": round(time.monotonic() - began, 1),
        "bulk": bulk,
        "short": short,
        "kernel": platform.release(),
        "counters": {n: {k: after[n][k] - before[n][k] for k in after[n]} for n in after},
    }


def count(path):
    """What a plain reading of the trace finds, without any analysis: the other half of the truth."""
    tuples, opened, packets, tcp, data_bytes = set(), set(), 0, 0, 0
    record = struct.Struct("<IIII")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as m:
        if m[:4] != b"\xd4\xc3\xb2\xa1":
            sys.exit("make_trace: tcpdump wrote no classic pcap with microseconds")
        at, end = 24, len(m)
        while at < end:
            _, _, length, original = record.unpack_from(m, at)
            packet = at + 16
            at = packet + length
            packets += 1
            if length != original:
                sys.exit("make_trace: a packet was cut")
            if m[packet + 12:packet + 14] != b"\x08\x00" or m[packet + 23] != 6:
                continue
            tcp += 1
            header = packet + 14 + 4 * (m[packet + 14] & 15)
            a = (m[packet + 26:packet + 30], m[header:header + 2])
            b = (m[packet + 30:packet + 34], m[header + 2:header + 4])
            key = (a, b) if a < b else (b, a)
            tuples.add(key)
            total = int.from_bytes(m[packet + 16:packet + 18], "big")
            data_bytes += total - (header - packet - 14) - 4 * (m[header + 12] >> 4)
            if m[header + 13] & 0x12 == 0x02:
                opened.add((key, m[header + 4:header + 8]))
    return {"packets": packets, "tcp_packets": tcp, "tcp_payload_bytes": data_bytes,
            "four_tuples": len(tuples), "syns": len(opened), "file_bytes": os.path.getsize(path)}


def make(args):
    out = Path(args.out)
    load = out / "load"
    run("cc", "-O2", "-o", str(load), str(HERE / "load.c"))
    build_network()
    part = out / "trace.pcap.part"
    for slower in (1, 2, 4):
        truth = attempt(args, load, part, slower)
        if truth:
            break
        print(f"make_trace: the capture lost packets at speed 1/{slower}; once more, slower", file=sys.stderr)
    else:
        sys.exit("make_trace: this machine cannot capture the load without losses")
    truth["counted"] = count(part)
    truth["connections"] = truth["counters"]["receiver"]["TcpActiveOpens"] + truth["counters"]["sender"]["TcpActiveOpens"]
    truth["retransmissions"] = sum(truth["counters"][n]["TcpRetransSegs"] for n in truth["counters"])
    (out / "trace.json").write_text(json.dumps(truth, indent=1) + "\n")
    part.rename(out / "trace.pcap")
    load.unlink()
    print(json.dumps(truth, indent=1))


def main():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", default=os.path.join(cache, "tcplab", "bench"), help="folder (default: %(default)s)")
    p.add_argument("--connections", type=int, default=60_000, help="short connections")
    p.add_argument("--per-second", type=float, default=3000, help="new short connections each second")
    p.add_argument("--flows", type=int, default=4, help="bulk flows")
    p.add_argument("--bulk-bytes", type=int, default=330_000_000, help="bytes of each bulk flow")
    p.add_argument("--force", action="store_true", help="make the trace again when it is there")
    p.add_argument("--in-namespace", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.in_namespace:
        make(args)
        return
    out = Path(args.out)
    if (out / "trace.pcap").exists() and (out / "trace.json").exists() and not args.force:
        print(f"make_trace: {out}/trace.pcap is there (--force makes it again)")
        return
    out.mkdir(parents=True, exist_ok=True)
    for tool in ("unshare", "ip", "tc", "ethtool", "tcpdump", "cc"):
        if not any(os.access(os.path.join(d, tool), os.X_OK) for d in os.environ["PATH"].split(":") + ["/usr/sbin", "/sbin"]):
            sys.exit(f"make_trace: {tool} is missing (Debian: iproute2 ethtool tcpdump gcc util-linux)")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    words = ["unshare", *user, "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
             sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--in-namespace", "--out", str(out.resolve())]
    sys.exit(subprocess.run(words).returncode)


if __name__ == "__main__":
    main()
