#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Is the memory of `tcplab analyze` bounded, whatever a capture holds?

Writes captures that ask for much, analyses each with the default bounds, and compares the peak memory with a limit
that does not grow with the capture.

  flood    N SYNs, each of another connection (5,000,000): --json
  scan     the same answered by RSTs: ended connections to remember
  middle   N packets of connections without a SYN, both ways: all stay open
  tuple    N connections one after the other on one four-tuple (400,000): --html
  long     one connection with N data packets (10,000,000): --html
  acks     the same: --acks

Exit 1 when a limit is passed. `--scale 0.1` makes all of it smaller; then the limits say little.
"""

import argparse
import os
import sys
from pathlib import Path

from measure import CACHE, MB, cost, dist_build
from memory import ACK, SERVER, SYN, SYN_OPTIONS, Writer, client, closed, connections

RST = 0x04

# Name, how many, options, limit in MB.
CASES = [
    ("flood", 5_000_000, ["--json"], 700),
    ("scan", 3_000_000, ["--json"], 300),
    ("middle", 2_000_000, ["--json"], 1_400),
    ("tuple", 400_000, ["--html"], 200),
    ("long", 10_000_000, ["--html"], 300),
    ("acks", 10_000_000, ["--acks"], 400),
]


def write(name, n, path):
    with open(path, "wb") as file:
        w = Writer(file)
        if name == "flood":
            connections("syn", n, w)
        elif name == "scan":
            for i in range(n // 2):
                w.packet(client(i), SERVER, 100, 0, SYN, options=SYN_OPTIONS)
                w.packet(SERVER, client(i), 0, 101, RST | ACK)
        elif name == "middle":
            for i in range(n):
                w.packet(client(i), SERVER, 100, 500, ACK, 100)
                w.packet(SERVER, client(i), 500, 200, ACK, 100)
        elif name == "tuple":
            for i in range(n):
                closed(w, client(0), i * 100_003)
        else:
            connections("long", n * 2 // 3, w)
        w.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--case", action="append", help="only this case (may be given again)")
    p.add_argument("--scale", type=float, default=1.0, help="factor on the sizes of the captures")
    p.add_argument("--dir", type=Path, default=CACHE, help="where the captures are written, and removed")
    p.add_argument("--tcplab", type=Path, action="append", help="a command to measure (default: build it; may be given again)")
    args = p.parse_args()
    commands = args.tcplab or [dist_build()]
    args.dir.mkdir(parents=True, exist_ok=True)
    good = True
    for name, n, options, limit in CASES:
        if args.case and name not in args.case:
            continue
        capture, page = args.dir / "bounds.pcap", args.dir / "bounds.html"
        write(name, int(n * args.scale), capture)
        for tcplab in commands:
            form = [str(page)] if options == ["--html"] else []
            with open(os.devnull, "wb") as out:
                c = cost([tcplab, "analyze", *options, *form, capture], out)
            right = c.code == 0 and c.rss <= limit * MB
            good &= right
            print(f"{'ok' if right else 'FAILS':6} {name:7} {int(n * args.scale):>10,}  {' '.join(options):6}  peak {c.rss / MB:>7.1f} MB, "
                  f"limit {limit} MB, user {c.user:.1f} s, exit {c.code}  {tcplab}", flush=True)
        capture.unlink()
        page.unlink(missing_ok=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
