"""Cut captures: what people have when they come late, save space, see one direction, or lose packets."""

import struct

CUTS = ("whole", "no-handshake", "late", "snap60", "one-direction", "every-10th")


def records(data):
    """(header, [(seconds, nanoseconds or microseconds, wire length, bytes)]) of a pcap; of a pcapng with one interface likewise."""
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return pcapng(data)
    out, at = [], 24
    while at + 16 <= len(data):
        s, f, n, wire = struct.unpack_from("<IIII", data, at)
        out.append((s, f, wire, data[at + 16:at + 16 + n]))
        at += 16 + n
    return data[:24], out


def pcapng(data):
    out, at, resolution, link = [], 0, 6, 1
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 1:
            link = struct.unpack_from("<H", data, at + 8)[0]
            option = at + 16
            while option + 4 <= at + size - 4:
                code, n = struct.unpack_from("<HH", data, option)
                if code == 9:
                    resolution = data[option + 4]
                if code == 0:
                    break
                option += 4 + (n + 3) // 4 * 4
        elif kind == 6:
            high, low, n, wire = struct.unpack_from("<IIII", data, at + 12)
            ns = ((high << 32) | low) * 10 ** (9 - resolution)
            out.append((ns // 10**9, ns % 10**9, wire, data[at + 28:at + 28 + n]))
        at += size
    return struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, link), out


def tcp(frame):
    """(source port, flags, payload's length by the headers) of a frame, or None."""
    if len(frame) < 34:
        return None
    at = 14
    if frame[12:14] == b"\x08\x00" and frame[23] == 6:
        head = (frame[14] & 15) * 4
        at, total = 14 + head, struct.unpack_from(">H", frame, 16)[0] - head
    elif frame[12:14] == b"\x86\xdd" and frame[20] == 6:
        at, total = 54, struct.unpack_from(">H", frame, 18)[0]
    else:
        return None
    if len(frame) < at + 14:
        return None
    return struct.unpack_from(">H", frame, at)[0], frame[at + 13], total - (frame[at + 12] >> 4) * 4


def cut(data, how, rng, sender="b"):
    """The capture cut in one way, as pcap; None when nothing worth a look is left."""
    head, packets = records(data)
    if how == "snap60":
        packets = [(s, f, wire, body[:60]) for s, f, wire, body in packets]
    elif how == "no-handshake":
        first = next((i for i, p in enumerate(packets) if (tcp(p[3]) or (0, 0, 0))[2] > 0), len(packets))
        packets = packets[first:]
    elif how == "late":
        packets = packets[rng.randint(4, max(5, len(packets) // 3)):]
    elif how == "one-direction":
        # What a mirror port shows of one direction; the port of servers is 5001.
        keep_server = rng.random() < 0.5
        packets = [p for p in packets if (t := tcp(p[3])) and (t[0] < 10000) == keep_server]
    elif how == "every-10th":
        phase = rng.randrange(10)
        packets = [p for i, p in enumerate(packets) if i % 10 != phase]
    if len(packets) < 2:
        return None
    return head + b"".join(struct.pack("<IIII", s, f, len(body), wire) + body for s, f, wire, body in packets)


def first_time(data):
    """Seconds since 1970 of the first packet of a pcap."""
    s, f = struct.unpack_from("<II", data, 24)
    return s + f / (1e6 if data[:4] == b"\xd4\xc3\xb2\xa1" else 1e9)
