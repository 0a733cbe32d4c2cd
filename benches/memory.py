#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Is the memory of `tcplab analyze --json` bounded by connections, and not by packets?

Writes synthetic captures of N connections, each on its own four-tuple, and compares the peak memory with the
bound: 64 MB, 1 kB for each connection that is open at one time (3 kB for one of more than eight packets), 64 B for each
four-tuple ever seen.

  syn     N lone SYNs (a flood): all stay open
  open    N connections with a handshake and one answered data segment, no end: all stay open
  both    the same with time stamps, a request and a response, each ACKed: all stay open
  busy    as both, and two more requests and responses: more packets than are kept as packets
  gaps    as open, each with data beyond a hole, sent twice, and a SACK that says so: all open, with a lost segment
  closed  N connections of a handshake, data and FINs, one after the other: none stays open
  reused  as closed, 100 connections on each four-tuple
  long    one connection with N data segments

Exit 1 when one is above the bound or a connection is missing in the answer.
"""

import argparse
import re
import struct
import sys
from pathlib import Path

from measure import CACHE, MB, cost, dist_build

SYN, ACK, PSH, FIN = 0x02, 0x10, 0x08, 0x01
MAC = bytes.fromhex("020000000001020000000002") + b"\x08\x00"


class Writer:
    """A classic pcap with microseconds; a packet every 10 us, snapped after the headers."""

    def __init__(self, file):
        self.file = file
        self.time = 1_700_000_000_000_000
        self.parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)]

    def packet(self, source, target, seq, ack, flags, length=0, options=b""):
        self.time += 10
        header = 20 + len(options)
        total = 20 + header + length
        ip = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0x4000, 64, 6, 0) + source[0] + target[0]
        tcp = struct.pack(">HHIIBBHHH", source[1], target[1], seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, header << 2, flags, 502, 0, 0)
        data = MAC + ip + tcp + options
        self.parts.append(struct.pack("<IIII", *divmod(self.time, 1_000_000), len(data), 14 + total) + data)
        if len(self.parts) > 4096:
            self.flush()

    def flush(self):
        self.file.write(b"".join(self.parts))
        self.parts = []


SERVER = (bytes((10, 0, 0, 1)), 80)
SYN_OPTIONS = bytes.fromhex("020405b40402080a000000010000000001030307")


def client(i):
    """The i-th four-tuple: 60,000 ports of address after address."""
    host = i // 60_000
    return bytes((10, 1, host >> 8 & 255, host & 255)), 1024 + i % 60_000


def handshake(w, c, isn=0):
    """The client's first byte is 101 + `isn`, the server's 501 + `isn`."""
    w.packet(c, SERVER, isn + 100, 0, SYN, options=SYN_OPTIONS)
    w.packet(SERVER, c, isn + 500, isn + 101, SYN | ACK, options=SYN_OPTIONS)
    w.packet(c, SERVER, isn + 101, isn + 501, ACK)


def closed(w, c, isn):
    handshake(w, c, isn)
    w.packet(c, SERVER, isn + 101, isn + 501, ACK | PSH, 100)
    w.packet(SERVER, c, isn + 501, isn + 201, ACK | PSH, 1000)
    w.packet(c, SERVER, isn + 201, isn + 1501, ACK | FIN)
    w.packet(SERVER, c, isn + 1501, isn + 202, ACK | FIN)
    w.packet(c, SERVER, isn + 202, isn + 1502, ACK)


def both(w, c, rounds=1):
    def stamps(value, echo, kinds=b"\x01\x01\x08\x0a"):
        return kinds + struct.pack(">II", value, echo)

    syn = bytes.fromhex("020405b40402080a")
    w.packet(c, SERVER, 100, 0, SYN, options=stamps(1, 0, syn) + b"\x01\x03\x03\x07")
    w.packet(SERVER, c, 500, 101, SYN | ACK, options=stamps(1, 1, syn) + b"\x01\x03\x03\x07")
    w.packet(c, SERVER, 101, 501, ACK, options=stamps(1, 1))
    for i in range(rounds):
        ours, theirs = 101 + 100 * i, 501 + 1000 * i
        w.packet(c, SERVER, ours, theirs, ACK | PSH, 100, options=stamps(2 + 4 * i, 1 + 4 * i))
        w.packet(SERVER, c, theirs, ours + 100, ACK, options=stamps(2 + 4 * i, 2 + 4 * i))
        w.packet(SERVER, c, theirs, ours + 100, ACK | PSH, 1000, options=stamps(3 + 4 * i, 2 + 4 * i))
        w.packet(c, SERVER, ours + 100, theirs + 1000, ACK, options=stamps(4 + 4 * i, 3 + 4 * i))


def gaps(w, c):
    handshake(w, c)
    for _ in range(2):
        w.packet(SERVER, c, 2001, 101, ACK, 1000)
    sack = b"\x01\x01\x05\x0a" + struct.pack(">II", 2001, 3001)
    w.packet(c, SERVER, 101, 501, ACK, options=sack)


def connections(kind, n, w):
    """Writes the capture of one kind; gives (connections, open at one time, four-tuples)."""
    for i in range(n):
        if kind == "syn":
            w.packet(client(i), SERVER, 100, 0, SYN, options=SYN_OPTIONS)
        elif kind == "open":
            handshake(w, client(i))
            w.packet(client(i), SERVER, 101, 501, ACK | PSH, 100)
            w.packet(SERVER, client(i), 501, 201, ACK)
        elif kind == "both":
            both(w, client(i))
        elif kind == "busy":
            both(w, client(i), 3)
        elif kind == "gaps":
            gaps(w, client(i))
        elif kind == "closed":
            closed(w, client(i), i * 100_003)
        elif kind == "reused":
            closed(w, client(i % (n // 100 or 1)), i * 100_003)
        elif kind == "long":
            if i == 0:
                handshake(w, client(0))
            w.packet(SERVER, client(0), 501 + 1000 * i, 101, ACK, 1000)
            if i % 2:
                w.packet(client(0), SERVER, 101, 501 + 1000 * (i + 1), ACK)
    if kind == "long":
        return 1, 1, 1
    return n, n if kind in ("syn", "open", "both", "busy", "gaps") else 1, (n // 100 or 1) if kind == "reused" else n


def streams_in(path):
    """How many streams the answer lists, without holding it: it has hundreds of MB."""
    found, rest, key = 0, b"", re.compile(rb'"client_to_server"\s*:')
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            text = rest + block
            matches = list(key.finditer(text))
            found += len(matches)
            # Keep what may be the beginning of a key, but never one that was counted.
            rest = text[max(matches[-1].end() if matches else 0, len(text) - 64):]
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", type=int, default=200_000, help="connections")
    p.add_argument("--kind", action="append", help="only this kind (may be given again)")
    p.add_argument("--dir", type=Path, default=CACHE, help="where the captures are written, and removed")
    p.add_argument("--tcplab", type=Path, help="the command to measure (default: build it)")
    args = p.parse_args()
    tcplab = args.tcplab or dist_build()
    args.dir.mkdir(parents=True, exist_ok=True)
    capture, output = args.dir / "memory.pcap", args.dir / "memory.json"
    good = True
    for kind in args.kind or ["syn", "open", "both", "busy", "gaps", "closed", "reused", "long"]:
        with open(capture, "wb") as file:
            w = Writer(file)
            total, open_now, tuples = connections(kind, args.n, w)
            w.flush()
        with open(output, "wb") as file:
            c = cost([tcplab, "analyze", "--json", capture], file)
        bound = 64 * MB + (3000 if kind == "busy" else 1000) * open_now + 64 * tuples
        found = streams_in(output)
        right = c.code == 0 and found == total and c.rss <= bound
        good &= right
        print(f"{'ok' if right else 'FAILS':6} {kind:7} {total:>9,} connections ({found:,} in the answer), {open_now:>9,} open, "
              f"{tuples:>9,} four-tuples: peak {c.rss / MB:>7.1f} MB, bound {bound / MB:>7.1f} MB, "
              f"user {c.user:.2f} s, exit {c.code}", flush=True)
    capture.unlink()
    output.unlink()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
