"""Experiments whose senders meet losses, timeouts, marks, idle times and reordering."""

from __future__ import annotations

import hashlib

import tcplab as tl

HOSTS = """
[run]
max = "60s"

[[host]]
name = "client"
sysctl = {{ "net.ipv4.tcp_congestion_control" = "reno", {0} }}

[[host]]
name = "server"
sysctl = {{ "net.ipv4.tcp_congestion_control" = "reno", {0} }}
"""

#: What each meets, a counter that says so, and how often at least over all seeds.
PATHS = {
    "loss": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 40
loss = "1%"

[[app]]
kind = "bulk"
bytes = "600 kB"

[[app]]
kind = "web"
connections = 4
stagger = "30ms"
sizes = ["4 kB", "40 kB"]
think = "50ms"
""",
        {"TcpExtTCPSackRecovery": 10},
    ),
    "timeouts": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "10mbit"
delay = "20ms"
limit = 60
burst_loss = "1% 15%"
outage = ["300ms..900ms", "2s..4500ms"]

[[app]]
kind = "bulk"
bytes = "1 MB"
""",
        {"TcpExtTCPTimeouts": 20, "TcpExtTCPLossUndo": 1},
    ),
    "ecn": (
        '"net.ipv4.tcp_ecn" = 1',
        """
[[link]]
rate = "20mbit"
delay = "15ms"
qdisc = "codel limit 200 target 2ms interval 30ms ecn"

[[app]]
kind = "bulk"
connections = 2
bytes = "1 MB"
""",
        {"TcpExtTCPDeliveredCE": 100},
    ),
    "idle": (
        '"net.ipv4.tcp_slow_start_after_idle" = 1',
        """
[[link]]
rate = "50mbit"
delay = "20ms"
limit = 50
loss = "0.2%"

[[app]]
kind = "stream"
chunk = "120 kB"
every = "1500ms"
count = 12
""",
        {},
    ),
    "reordering": (
        '"net.ipv4.tcp_ecn" = 0',
        """
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 100
reordering = "0.3% by 25ms"
spikes = "0.4% median 600ms sigma 0.3"

[[app]]
kind = "bulk"
bytes = "1 MB"
""",
        {"TcpExtTCPPartialUndo": 1},
    ),
}

SEEDS = range(1, 6)


def text(name: str) -> str:
    sysctls, rest, _ = PATHS[name]
    return HOSTS.format(sysctls) + rest


def digest(world: tl.World) -> str:
    """Of every packet at every interface, with its time."""
    assert all(len(data) > 1000 for data in world.captures().values())
    return hashlib.sha256(b"".join(world.captures().values())).hexdigest()


def both(algorithm: type[tl.CongestionControl]) -> dict[str, type[tl.CongestionControl]]:
    return {"client": algorithm, "server": algorithm}
