#!/usr/bin/env python3
"""Super-segments as the kernel cuts them: writes `kernel.txt`, which the test `offload` reads.

Each frame goes into a TAP device with IFF_VNET_HDR, over a bridge, and out of a TAP device without offloads, in a
network namespace of its own. Run as root: `./kernel.py > kernel.txt`.
"""

import ctypes
import fcntl
import os
import platform
import select
import struct
import subprocess

NEEDS_CSUM, TCPV4, TCPV6, UDP_L4, ECN = 1, 1, 4, 5, 0x80
FIN, PSH, ACK, URG, CWR = 1, 8, 16, 32, 128


def fold(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total


def frame(*, six=False, udp=False, tags=b"", ip_options=b"", extensions=b"", options=b"", flags=ACK, payload=3000,
          ident=0xFFFE, tos=2, seq=0xFFFFFF00, partial=True, final=None):
    """A frame whose checksum is that of its pseudo header."""
    data = bytes((7 * i + i // 251) & 0xFF for i in range(payload))
    if udp:
        segment = struct.pack("!HHHH", 4000, 5000, 8 + payload, 0) + data
    else:
        words = (20 + len(options)) // 4 << 12 | flags
        segment = struct.pack("!HHIIHHHH", 4000, 80, seq, 77, words, 1000, 0, 9 if flags & URG else 0) + options + data
    protocol = 17 if udp else 6
    at = 6 if udp else 16
    if six:
        src, dst = bytes.fromhex("20010db8" + "0" * 23 + "1"), bytes.fromhex("20010db8" + "0" * 23 + "2")
    else:
        src, dst = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    pseudo = src + (final or dst) + struct.pack("!II", len(segment), protocol)
    if partial:
        segment = segment[:at] + struct.pack("!H", fold(pseudo)) + segment[at + 2:]
    if six:
        first = extensions[:1] and (0 if final is None else 43)
        body = extensions + segment
        ip = struct.pack("!IHBB", 6 << 28 | tos << 20 | 5, len(body) & 0xFFFF, first if extensions else protocol, 64)
        ip += src + dst + extensions
    else:
        words = 0x45 + len(ip_options) // 4
        head = struct.pack("!BBHHHBBH", words, tos, 20 + len(ip_options) + len(segment), ident, 0x4000, 64, protocol, 0)
        ip = head + src + dst + ip_options
        ip = ip[:10] + struct.pack("!H", 0xFFFF - fold(ip)) + ip[12:]
    link = bytes.fromhex("020000000002020000000001") + tags + (b"\x86\xdd" if six else b"\x08\x00")
    return link + ip + segment, len(link) + len(ip), at


def header(kind, size, start, at, partial=True):
    flags = NEEDS_CSUM if partial else 0
    return struct.pack("=BBHHHH", flags, kind, 0, size, start if partial else 0, at if partial else 0)


STAMPS = bytes.fromhex("0101080a0000000100000002")
TAG, TAGS = bytes.fromhex("81000064"), bytes.fromhex("88a8000a81000064")
HOP = bytes.fromhex("0600050200000100")
DESTINATION = bytes.fromhex("3c00050200000100") + bytes.fromhex("0600010400000000")
FINAL = bytes.fromhex("20010db8" + "0" * 23 + "9")
ROUTING = bytes([6, 2, 0, 1, 0, 0, 0, 0]) + FINAL

CASES = [
    ("tcp4", TCPV4, 1448, {"options": STAMPS, "flags": ACK | PSH}),
    ("tcp4 all flags", TCPV4 | ECN, 100, {"flags": ACK | PSH | FIN | CWR, "payload": 301}),
    ("tcp4 without the bit for ECN", TCPV4, 100, {"flags": ACK | CWR, "payload": 250}),
    ("tcp4 urgent", TCPV4, 100, {"flags": ACK | URG, "payload": 250}),
    ("tcp4 IP options", TCPV4, 100, {"ip_options": bytes([1, 1, 1, 0, 148, 4, 0, 0]), "payload": 220}),
    ("tcp4 without a checksum", TCPV4, 100, {"partial": False, "payload": 220}),
    ("tcp4 one tag", TCPV4, 100, {"tags": TAG, "payload": 220}),
    ("tcp4 two tags", TCPV4, 100, {"tags": TAGS, "payload": 220}),
    ("tcp4 one", TCPV4, 300, {"payload": 300}),
    ("tcp4 exact", TCPV4, 150, {"payload": 300}),
    ("tcp6", TCPV6, 1440, {"six": True, "options": STAMPS}),
    ("tcp6 all flags", TCPV6 | ECN, 100, {"six": True, "flags": ACK | PSH | FIN | CWR, "payload": 250}),
    ("tcp6 without a checksum", TCPV6, 100, {"six": True, "partial": False, "payload": 220}),
    ("tcp6 hop by hop", TCPV6, 100, {"six": True, "extensions": HOP, "payload": 220}),
    ("tcp6 two extensions", TCPV6, 100, {"six": True, "extensions": DESTINATION, "payload": 220}),
    ("tcp6 routing", TCPV6, 100, {"six": True, "extensions": ROUTING, "final": FINAL, "payload": 220}),
    ("tcp6 tag", TCPV6, 100, {"six": True, "tags": TAG, "payload": 220}),
    ("udp4", UDP_L4, 500, {"udp": True, "payload": 1201}),
    ("udp6", UDP_L4, 500, {"udp": True, "six": True, "payload": 1201}),
    ("udp4 tag", UDP_L4, 100, {"udp": True, "tags": TAG, "payload": 220}),
    ("tcp4 checksum only", 0, 0, {"payload": 101}),
    ("udp6 checksum only", 0, 0, {"udp": True, "six": True, "payload": 101}),
]


def tap(name, flags):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x0002 | 0x1000 | flags))
    return fd


def main():
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):
        raise SystemExit("a network namespace needs root")
    into, out = tap("ta", 0x4000), tap("tb", 0)
    for words in ["link add br0 type bridge mcast_snooping 0", "link set ta master br0", "link set tb master br0",
                  "link set ta up", "link set tb up", "link set br0 up"]:
        subprocess.run(["ip", *words.split()], check=True)
    print(f"# What Linux {platform.release().split('-')[0]} makes of super-segments; ./kernel.py writes this file.")
    print("# name, then virtio_net_hdr and the frame, then the frames of the wire, in hexadecimal digits")
    for name, kind, size, options in CASES:
        whole, start, at = frame(**options)
        before = header(kind, size, start, at, options.get("partial", True))
        os.write(into, before + whole)
        print(f"\n{name}\n{before.hex()} {whole.hex()}")
        while select.select([out], [], [], 0.3)[0]:
            got = os.read(out, 70000)
            if got[6:12] == bytes.fromhex("020000000001"):
                print(got.hex())


main()
