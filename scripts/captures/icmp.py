#!/usr/bin/env python3
"""Captures with ICMP errors, or without those that should have come: icmp.py, as root.

Three network namespaces of this machine's kernel: client 10.77.0.1 and fd77::1, router, server 10.77.1.2 and fd77:1::2 port
5001. The laboratory of the other captures has no router. Writes its captures into tests/captures; shipping.py has its lines
in the README and in labels.json.
"""

import os
import platform
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent.parent / "tests" / "captures"
ROLES = ("client", "router", "server")
PORT = 5001

# The server drops what the router sends, after tcpdump has seen it; the rule for its own addresses comes first otherwise, and ARP is
# dropped with it.
IGNORE = [
    *(("server", f"ip rule {rule}") for rule in ("add pref 1 from 10.77.1.1 iif s blackhole", "add pref 2 lookup local", "del pref 0")),
    ("server", "ip link set s address 02:00:00:00:00:02"),
    ("router", "ip neigh replace 10.77.1.2 lladdr 02:00:00:00:00:02 dev r1"),
]

# name, where (a: client, b: server), address of the server, MTU behind the router, more commands (namespace, command), what the
# server does, causes, allowed, how it was made
CAPTURES = [
    ("path-mtu", "b", "10.77.1.2", 1400, [], "answer", ["path_mtu"], ["loss"],
     "server sends 60 kB through a router whose next link has an MTU of 1400: it says so with ICMP"),
    ("path-mtu-v6", "b", "fd77:1::2", 1400, [], "answer", ["path_mtu"], ["loss"],
     "the same over IPv6: \"packet too big\""),
    ("black-hole-icmp-lost", "a", "10.77.1.2", 1400, [("router", "ip rule add pref 1 iif lo to 10.77.1.2 blackhole")], "answer",
     ["large_packets_missing"], ["no_answer"],
     "as `path-mtu`, but the router's messages are lost; the client closes after 8 s"),
    ("black-hole-icmp-ignored", "b", "10.77.1.2", 1400, IGNORE,
     "answer", ["black_hole"], ["path_mtu"],
     "as `path-mtu`, but the server drops the router's messages when they arrive"),
    ("no-answer", "a", "10.77.1.2", 1500, [], "wait", ["no_answer"], [],
     "the server takes a request of 200 bytes and sends nothing, the client closes after 8 s: no data is missing"),
    ("host-unreachable", "a", "10.77.1.50", 1500, [("router", "ip route add unreachable 10.77.1.50/32")], "answer",
     ["unreachable"], [], "the router answers the SYN: ICMP host unreachable"),
    ("prohibited-v6", "a", "fd77:1::50", 1500, [("router", "ip -6 route add prohibit fd77:1::50/128")], "answer",
     ["unreachable"], ["syn_retries"], "the router answers the SYN: ICMPv6 administratively prohibited"),
]

SETUP = """
client ip link set lo up
server ip link set lo up
client ip link add c type veth peer name r0 netns ROUTER
server ip link add s type veth peer name r1 netns ROUTER
client ip addr add 10.77.0.1/24 dev c
client ip addr add fd77::1/64 dev c nodad
router ip addr add 10.77.0.254/24 dev r0
router ip addr add fd77::fe/64 dev r0 nodad
router ip addr add 10.77.1.1/24 dev r1
router ip addr add fd77:1::1/64 dev r1 nodad
server ip addr add 10.77.1.2/24 dev s
server ip addr add fd77:1::2/64 dev s nodad
client ip link set c up
router ip link set r0 up
router ip link set r1 up
server ip link set s up
router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
client ip route add default via 10.77.0.254
client ip -6 route add default via fd77::fe
server ip route add default via 10.77.1.1
server ip -6 route add default via fd77:1::1
client ip link set c gso_max_segs 1
server ip link set s gso_max_segs 1
router ip link set r0 gso_max_segs 1
router ip link set r1 gso_max_segs 1
""".strip().splitlines()


def within(pid, command, **more):
    """Runs a command in the namespace of a process."""
    words = command if isinstance(command, list) else shlex.split(command)
    return subprocess.Popen(["nsenter", "-t", str(pid), "-n", *words], **more)


def counters(pid):
    """The kernel's counters of a namespace, those that are not 0."""
    found = {}
    for file in ("snmp", "netstat"):
        text = subprocess.run(["nsenter", "-t", str(pid), "-n", "cat", f"/proc/net/{file}"], capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            kind = names.split(":")[0]
            if kind in ("Tcp", "TcpExt", "Ip", "IpExt"):
                pairs = zip(names.split()[1:], values.split()[1:])
                found.update({kind + n: int(v) for n, v in pairs if v not in ("0", "-1") and n not in CONSTANT})
    return found


# A delayed ACK here is that of a FIN, and DelayedACKs of other captures are those of data.
CONSTANT = ("RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "Forwarding", "DefaultTTL", "DelayedACKs")


def serve(what):
    """Takes one connection: reads the request, answers with 60 kB or not at all."""
    listener = socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    connection, _ = listener.accept()
    connection.recv(4096)
    if what == "answer":
        try:
            connection.sendall(bytes(60_000))
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    time.sleep(20)


def ask(address):
    """Sends a request, reads for 8 s at most, closes."""
    try:
        connection = socket.create_connection((address, PORT), timeout=8)
        connection.sendall(bytes(200))
        while connection.recv(65536):
            pass
    except OSError as e:
        print(e, flush=True)


def capture(name, point, address, mtu, more, what):
    """Makes one capture; gives the counters of both hosts."""
    own = {role: subprocess.Popen(["unshare", "-n", "sleep", "120"]) for role in ROLES}
    running = list(own.values())
    try:
        time.sleep(0.5)
        pids = {role: process.pid for role, process in own.items()}
        steps = [line.replace("ROUTER", str(pids["router"])).split(" ", 1) for line in SETUP]
        # Only the router's way to the client is narrow.
        link = [("router", f"ip link set r0 mtu {mtu}")]
        for role, command in [*steps, *link, *more]:
            if within(pids[role], command).wait() != 0:
                raise SystemExit(f"{name}: {role}: {command}")
        time.sleep(1)
        host, device = {"a": ("client", "c"), "b": ("server", "s")}[point]
        file = OUT / f"{name}.{point}.pcap"
        dump = ["tcpdump", "-q", "-i", device, "-s", "128", "--time-stamp-precision=nano", "-U", "-w", str(file), f"tcp port {PORT} or icmp or (icmp6 and ip6[40] < 5)"]
        running.append(dumping := within(pids[host], dump, stderr=subprocess.DEVNULL))
        running.append(within(pids["server"], [sys.executable, __file__, "serve", what]))
        time.sleep(1.5)
        within(pids["client"], [sys.executable, __file__, "ask", address]).wait()
        time.sleep(1)
        found = {"a": counters(pids["client"]), "b": counters(pids["server"])}
        dumping.terminate()
        dumping.wait()
        return found
    finally:
        for process in running:
            process.kill()
            process.wait()


def labels(counted):
    """The entries of labels.json."""
    release = platform.release().split("-")[0]
    result = {}
    for name, point, address, mtu, more, what, causes, allowed, text in CAPTURES:
        file, where = f"{name}.{point}.pcap", {"a": "at the client", "b": "at the server"}[point]
        result[file] = {
            "kernel": platform.release(), "hz": 250, "captured_at": point, "causes": causes, "allowed": allowed,
            "scenario": [f"address={address}", f"mtu={mtu}", f"server={what}", *(f"{role}: {command}" for role, command in more)], "link": [],
            "counters": counted[name],
            "readme": f"| `{file}` | {release}, HZ=250 (own kernel, three namespaces, `icmp.py`) | {where} | {text} |\n",
        }
    return result


def main():
    if sys.argv[1:2] == ["serve"]:
        return serve(sys.argv[2])
    if sys.argv[1:2] == ["ask"]:
        return ask(sys.argv[2])
    # On one processor: two swap packets that follow each other at once.
    os.sched_setaffinity(0, {0})
    counted = {c[0]: capture(*c[:6]) for c in CAPTURES}
    import shipping

    shipping.write(labels(counted))


if __name__ == "__main__":
    main()
