"""What a congestion control in Python costs per ACK against the built-in Reno: CPU time of this process.

``PYTHONPATH=python target/python/env/bin/python python/benches/congestion.py``
"""

from __future__ import annotations

import sys
import time

import tcplab as tl

EXPERIMENT = """
[run]
max = "60s"
tcp_info = false

[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_congestion_control" = "reno" }

[[host]]
name = "server"

[[link]]
rate = "100mbit"
delay = "10ms"
limit = 200

[[app]]
kind = "bulk"
bytes = "100 MB"
"""


class Counting(tl.Reno):
    """Counts the calls, and keeps the last ACK."""

    name = "counting"
    calls = 0
    last: tl.Ack

    def on_ack(self, ack: tl.Ack) -> tl.congestion.Answer:
        Counting.calls += 1
        Counting.last = ack
        return super().on_ack(ack)


def cpu_s(algorithm: type[tl.CongestionControl] | None) -> float:
    """CPU seconds of a run."""
    world = tl.World(EXPERIMENT, seed=1, congestion={"client": algorithm} if algorithm else None)
    begin = time.process_time()
    world.run()
    return time.process_time() - begin


def method_s(calls: int) -> float:
    """CPU seconds of so many calls of Reno's method by Python itself."""
    on_ack, ack = tl.Reno().on_ack, Counting.last
    begin = time.process_time()
    for _ in range(calls):
        on_ack(ack)
    return time.process_time() - begin


def main() -> None:
    """Prints the figures: the least of seven."""
    cpu_s(Counting)
    acks = Counting.calls
    own = min(cpu_s(None) for _ in range(7))
    reno = min(cpu_s(tl.Reno) for _ in range(7))
    method = min(method_s(acks) for _ in range(7))
    print(f"Python {sys.version.split()[0]}, {acks} calls of on_ack")
    print(f"built-in reno   {own:7.3f} CPU s, {own / acks * 1e6:5.2f} us an ACK, all of the simulation included")
    print(f"Reno in Python  {reno:7.3f} CPU s, {reno / acks * 1e6:5.2f} us an ACK")
    more = (reno - own) / acks * 1e6
    print(f"Python costs {more:.2f} us an ACK: {method / acks * 1e6:.2f} us its method, the rest the way there and back")


if __name__ == "__main__":
    main()
