#!/usr/bin/env python3
"""Checks captures against their labels, without any analyser: check.py CORPUS

In a capture taken at a host, the segments that this host sent twice must be exactly as many as its kernel counted
(TcpRetransSegs). Captures between the hosts, spoiled ones and those of many connections are passed over.
"""

import json
import struct
import sys
from pathlib import Path

from corpus import from_client, read_pcap


def segment(frame):
    """(sequence number, length with SYN and FIN) of a TCP segment with data, SYN or FIN, else None."""
    if frame[12:14] == b"\x08\x00":
        at, total = 14 + (frame[14] & 15) * 4, 14 + struct.unpack_from(">H", frame, 16)[0]
    elif frame[12:14] == b"\x86\xdd" and frame[20] == 6:
        at, total = 54, 54 + struct.unpack_from(">H", frame, 18)[0]
    else:
        return None
    flags = frame[at + 13]
    length = total - at - (frame[at + 12] >> 4) * 4 + (flags >> 1 & 1) + (flags & 1)
    return None if flags & 4 or not length else (struct.unpack_from(">I", frame, at + 4)[0], length)


def sent_twice(path, client):
    """How many segments of one host end at or before the highest byte that it had sent."""
    highest, count = None, 0
    for _, frame in read_pcap(path)[1]:
        found = segment(frame) if from_client(frame) == client else None
        if found is None:
            continue
        end = (found[0] + found[1]) & 0xFFFFFFFF
        if highest is None or 0 < (end - highest) & 0xFFFFFFFF < 1 << 31:
            highest = end
        else:
            count += 1
    return count


def main(root):
    checked = total = wrong = 0
    for line in (root / "index.jsonl").read_text().splitlines():
        label = json.loads(line)
        point = label["captured_at"]
        if point == "mid" or label["artefact"] or label["params"].get("connections"):
            continue
        kernel = label["counters"][point].get("TcpRetransSegs", 0)
        seen = sent_twice(root / label["file"], point == "a")
        checked, total = checked + 1, total + kernel
        if seen != kernel:
            wrong += 1
            print(f"{label['file']}: {seen} in the capture, {kernel} by the kernel")
    print(f"{checked} captures, {total} retransmissions by the kernels' count, {wrong} captures differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
