"""How many packets of a capture come into polars per CPU second (user and system time of this process).

``TCPLAB_COMMAND=target/release/tcplab PYTHONPATH=python target/python/env/bin/python python/benches/packets.py [CAPTURE]``

Without CAPTURE a bulk flow and requests of two simulated hosts are recorded first: 2.2 million packets, 300 MB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import polars
import tcplab as tl

EXPERIMENT = """
[run]
captures = true
tcp_info = false

[[host]]
name = "client"

[[host]]
name = "server"

[[link]]
rate = "1gbit"
delay = "5ms"

[[app]]
kind = "bulk"
bytes = "2 GB"

[[app]]
kind = "request-response"
request = 100
response = "20 kB"
count = 4000
"""

TIMES = 5


def measure(capture: Path) -> None:
    rates = []
    for _ in range(TIMES):
        analysis = tl.analyze(capture)
        before = time.process_time()
        rows = polars.DataFrame(analysis.packets).height
        rates.append(rows / (time.process_time() - before))
    rates.sort()
    low, middle, high = (f"{rates[at] / 1e6:.2f}" for at in (0, TIMES // 2, -1))
    print(f"{rows:,} packets into polars: {middle} million rows per CPU second ({low} to {high}, {TIMES} times)")


def main() -> None:
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        tl.run(EXPERIMENT, out=out)
        measure(next(out.glob("points/*/client.*.pcapng")))


main()
