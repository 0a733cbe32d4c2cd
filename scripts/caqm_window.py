#!/usr/bin/env python3
"""Does the sum of the hints that CAQM granted equal the growth of the sender's window?

    python3 scripts/caqm_window.py SENDER.pcapng [--receiver RECEIVER.pcapng] [--tcp-info result.json]

From captures alone: this file has its own reader of pcap and pcapng, of Ethernet, VLAN tags, CAQM's tag, IP and TCP, and uses
nothing of tcplab. In a capture at the sender of a bulk transfer it adds up what the receiver told in CAQM's tags, computes the
window after each ACK (from 10 packets on, 1,024 bytes of grant a packet, never below the minimum; no growth while the window is
not used), and compares it with what the sender then had in flight: a sender with always more to send fills its window, no more
and no less, unless the receiver's window is smaller. It stops at the first segment that was sent again, because a loss changes
the window in other ways, and at the last data. With a capture at the receiver it
also compares the worth of the tags of data that arrived there with what the receiver told; with the result of a run that sampled
tcp_info (`tcp_info_every`), the computed window with tcpi_snd_cwnd at each sample.

Prints a table with one line for each round trip. Exit code: 0 it fits, 1 it does not, 2 the captures cannot be used.
"""

import argparse
import json
import struct
import sys

SYN, FIN = 0x02, 0x01


class Unusable(Exception):
    """A capture that the question cannot be asked of."""


# --- files -----------------------------------------------------------------------------------------------------------


def frames(path):
    """(nanoseconds, captured bytes) of each Ethernet frame of a pcap or pcapng file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as e:
        raise Unusable(f"{path}: {e.strerror}") from e
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return pcapng(path, data)
    return pcap(path, data)


def pcap(path, data):
    kinds = {b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\xc3\xd4": (">", 1000),
             b"\x4d\x3c\xb2\xa1": ("<", 1), b"\xa1\xb2\x3c\x4d": (">", 1)}
    if data[:4] not in kinds:
        raise Unusable(f"{path}: neither pcap nor pcapng")
    order, unit = kinds[data[:4]]
    if struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF != 1:
        raise Unusable(f"{path}: not a capture of Ethernet frames")
    at, found = 24, []
    while at + 16 <= len(data):
        seconds, part, length, _ = struct.unpack_from(order + "IIII", data, at)
        found.append((seconds * 10**9 + part * unit, data[at + 16:at + 16 + length]))
        at += 16 + length
    return found


def pcapng(path, data):
    at, order, units, found = 0, "<", [], []
    while at + 12 <= len(data):
        kind = struct.unpack_from(order + "I", data, at)[0]
        if kind == 0x0A0D0D0A:
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            units = []
        length = struct.unpack_from(order + "I", data, at + 4)[0]
        if length < 12 or at + length > len(data):
            raise Unusable(f"{path}: damaged at offset {at}")
        body = data[at + 8:at + length - 4]
        if kind == 1:
            if struct.unpack_from(order + "H", body)[0] != 1:
                raise Unusable(f"{path}: not a capture of Ethernet frames")
            units.append(resolution(body[8:], order))
        elif kind == 6:
            interface, high, low, captured = struct.unpack_from(order + "IIII", body)
            found.append(((high << 32 | low) * units[interface] // 10**9, body[20:20 + captured]))
        at += length
    return found


def resolution(options, order):
    """Nanoseconds x 10^9 of a unit of time (option if_tsresol; microseconds without it)."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        if code == 9:
            value = options[at + 4]
            return 10**18 >> (value & 0x7F) if value & 0x80 else 10**18 // 10**value
        at += 4 + (length + 3) // 4 * 4
    return 10**12


# --- packets ---------------------------------------------------------------------------------------------------------


class Segment:
    """A TCP segment: `ends` (source, destination), numbers, flags, payload length, INFO of its CAQM tag or None."""

    def __init__(self, time, ends, tcp, length, info):
        self.time, self.ends, self.info = time, ends, info
        self.seq, self.ack, offset, self.flags = struct.unpack_from(">IIBB", tcp, 4)
        self.bits, self.window = offset & 0x0F, struct.unpack_from(">H", tcp, 14)[0]
        self.scale = window_scale(tcp[20:(offset >> 4) * 4]) if self.flags & SYN else None
        self.length = length - (offset >> 4) * 4


def window_scale(options):
    """The shift of a SYN's window scale option; None without it."""
    at = 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
        elif at + 1 >= len(options) or options[at + 1] < 2:
            break
        elif options[at] == 3 and at + 2 < len(options):
            return options[at + 2]
        else:
            at += options[at + 1]
    return None


def segment(time, frame, ethertype):
    """None: the frame holds no TCP."""
    at, info = 12, None
    kind = struct.unpack_from(">H", frame, at)[0]
    for _ in range(3):
        if kind in (0x8100, 0x88A8):
            at += 4
        elif kind == ethertype and info is None:
            info = struct.unpack_from(">H", frame, at + 2)[0]
            at += 4
        else:
            break
        kind = struct.unpack_from(">H", frame, at)[0]
    ip = frame[at + 2:]
    if kind == 0x0800 and len(ip) >= 40 and ip[9] == 6:
        header, total = (ip[0] & 15) * 4, struct.unpack_from(">H", ip, 2)[0]
        source, target, tcp, length = ip[12:16], ip[16:20], ip[header:], total - header
    elif kind == 0x86DD and len(ip) >= 60 and ip[6] == 6:
        source, target, tcp, length = ip[8:24], ip[24:40], ip[40:], struct.unpack_from(">H", ip, 4)[0]
    else:
        return None
    if len(tcp) < 20:
        return None
    ports = struct.unpack_from(">HH", tcp)
    return Segment(time, ((source, ports[0]), (target, ports[1])), tcp, length, info)


def connections(path, ethertype):
    """The segments of each connection, by its ends, in the order of the file."""
    found = {}
    for time, frame in frames(path):
        packet = segment(time, frame, ethertype) if len(frame) >= 14 else None
        if packet:
            found.setdefault(frozenset(packet.ends), []).append(packet)
    return found


def value(info, units):
    """Bytes of window that INFO stands for at its receiver; a tag of another type stands for nothing."""
    if info is None or info >> 13 != units.type:
        return 0
    data, mark, grant, hint = info & 0x400, info & 0x200, info & 0x100, info & 0xFF
    if bool(mark) == bool(grant):
        return 0
    if data:
        return hint * units.data if grant else -units.beta
    return hint * units.ack if grant else -hint * units.ack


def after(a, b):
    """Sequence number a comes after b."""
    return 0 < (a - b) & 0xFFFFFFFF < 1 << 31


# --- the question ----------------------------------------------------------------------------------------------------


class Replay:
    """The window, from what the receiver told. A window that is not used does not grow: it counts as used when it was full
    (Linux tcp_cwnd_validate()), in slow start also when half of it was."""

    def __init__(self, units):
        self.units, self.cwnd, self.rest, self.told = units, units.initial, 0, 0
        self.starts, self.is_full, self.most, self.usage = True, False, 0, None

    def least(self):
        """Packets that a sender has in flight who has more to send. Linux tcp_tso_should_defer(): with TSO up to a third of the
        window (tcp_tso_win_divisor) waits to become more, and the window counts as full."""
        return self.cwnd - self.cwnd // 3 if self.units.tso else self.cwnd

    def sent(self, flight, una, following, is_held):
        """A burst has left `flight` packets in flight; `is_held`: the receiver's window ended it."""
        is_full = flight >= self.cwnd or (flight >= self.least() and not is_held)
        is_new = self.usage is None or not after(self.usage, una)
        if is_new or is_full or (not self.is_full and flight > self.most):
            self.is_full, self.most, self.usage = is_full, flight, following

    def tell(self, told, is_new):
        """`is_new`: the ACK is of new data."""
        self.starts &= told > 0 or not is_new
        self.told += told
        self.rest += told
        packets = int(self.rest / self.units.packet)
        self.rest -= packets * self.units.packet
        if packets < 0 or self.is_full or (self.starts and self.cwnd < 2 * self.most):
            self.cwnd = max(self.cwnd + packets, self.units.minimum)


class Flow:
    """One direction of a connection as the capture at its sender shows it."""

    def __init__(self, segments, units):
        self.units, self.replay = units, Replay(units)
        sent = {}
        for s in segments:
            sent[s.ends] = sent.get(s.ends, 0) + max(s.length, 0)
        self.ends = max(sent, key=sent.get)
        self.segments = segments
        self.mss = max(s.length for s in segments if s.ends == self.ends)
        self.check_start()
        data = [n for n, s in enumerate(segments) if s.ends == self.ends and s.length > 0]
        self.last = data[-1]
        self.rounds, self.wrong, self.why = [], [], "the end of the data"
        self.checked = self.held = 0
        # (time, window) after each ACK.
        self.history = []

    def check_start(self):
        syns = [s for s in self.segments if s.flags & SYN]
        if len(syns) < 2:
            raise Unusable("the handshake is not in the capture: the window is not known at its begin")
        if not any(s.bits & 1 for s in syns) or not any(s.bits & 2 for s in syns):
            raise Unusable("CAQM was not negotiated: SYN and SYN-ACK lack its bits")
        if not any(s.info is not None and not s.info & 0x400 for s in self.segments if s.ends != self.ends):
            raise Unusable("the receiver sent no feedback")

    def run(self):
        """Compares after each ACK; each round trip ends when what was sent at its begin is ACKed."""
        scale = self.scale()
        begin = [s for s in self.segments if s.ends == self.ends and s.flags & SYN][-1]
        una = following = end_of_round = (begin.seq + 1) & 0xFFFFFFFF
        sent_now, peak, acks, edge = False, 0, 0, None
        for n, s in enumerate(self.segments):
            if s.flags & SYN:
                continue
            if s.ends == self.ends:
                if s.length <= 0:
                    continue
                end = (s.seq + s.length) & 0xFFFFFFFF
                if s.seq != following:
                    self.why = f"packet {n + 1} of the connection, which was sent again"
                    break
                following, sent_now = end, True
                peak = max(peak, self.packets(following, una))
                continue
            # The sender's answer to the ACK before is complete: what did it leave in flight?
            room = (edge - following) & 0xFFFFFFFF if edge is not None else self.mss
            flight = self.packets(following, una)
            if sent_now and n < self.last:
                self.compare(n, flight, room < self.mss)
            if sent_now:
                self.replay.sent(flight, una, following, room < self.mss)
            sent_now = False
            acks += 1
            is_new = after(s.ack, una)
            una = s.ack if is_new else una
            edge = (s.ack + (s.window << scale)) & 0xFFFFFFFF
            self.replay.tell(value(s.info, self.units), is_new)
            self.history.append((s.time, self.replay.cwnd))
            if not after(end_of_round, una):
                self.rounds.append((s.time, acks, self.replay.told, self.replay.cwnd, peak))
                end_of_round, peak, acks = following, self.packets(following, una), 0
            if n >= self.last:
                break

    def packets(self, following, una):
        return -(-((following - una) & 0xFFFFFFFF) // self.mss)

    def scale(self):
        """Shift of the receiver's windows; 0 unless both sides have the option."""
        scales = {s.ends: s.scale for s in self.segments if s.flags & SYN}
        return 0 if None in scales.values() else scales[self.ends[::-1]]

    def compare(self, n, flight, is_held):
        """`is_held`: the receiver's window has no room for a segment."""
        if is_held and flight <= self.replay.cwnd:
            self.held += 1
            return
        self.checked += 1
        if not self.replay.least() <= flight <= self.replay.cwnd:
            self.wrong.append((n + 1, self.replay.cwnd, flight))

    def report(self, name):
        units, replay = self.units, self.replay
        print(f"{name}: segments of {self.mss} bytes, up to {self.why}\n")
        print("      time us   ACKs   told bytes  expected window  most in flight")
        start = self.segments[0].time
        for time, acks, told, cwnd, peak in thinned(self.rounds):
            print(f"{(time - start) / 1000:13.1f} {acks:6} {told:12} {cwnd:16} {peak:15}")
        growth = replay.cwnd - units.initial
        print(f"\nsum of what was told: {replay.told} bytes = {growth} packets of {units.packet} bytes and {replay.rest} bytes;"
              f" window {units.initial} + {growth} = {replay.cwnd}")
        if self.held:
            print(f"{self.held} times the receiver's window held the sender back: not compared")
        for n, cwnd, flight in self.wrong[:10]:
            print(f"packet {n} of the connection: expected window {cwnd}, in flight {flight}")
        fits = len(self.wrong) == 0 and self.checked >= units.enough
        print(f"{self.checked - len(self.wrong)} of {self.checked} times the sender had in flight what it may"
              f" ({units.enough} or more are needed): {'fits' if fits else 'DOES NOT FIT'}")
        return fits


def thinned(rounds, most=40):
    """At most so many lines, the first and the last ones among them."""
    if len(rounds) <= most:
        return rounds
    step = (len(rounds) - 1) / (most - 1)
    return [rounds[round(i * step)] for i in range(most)]


def at_receiver(flow, segments, units):
    """What arrived against what was told, ACK by ACK: less than a unit may wait, and what one ACK cannot hold."""
    came = told = worst = 0
    following = None
    for s in segments:
        if s.flags & SYN:
            continue
        if s.ends == flow.ends:
            end = (s.seq + max(s.length, 0)) & 0xFFFFFFFF
            if s.info is not None and s.info & 0x400 and (following is None or after(end, following)):
                came += value(s.info, units)
                following = end
        elif s.info is not None and not s.info & 0x400:
            told += value(s.info, units)
            if s.info & 0xFF != 0xFF:
                worst = max(worst, abs(came - told))
    # What comes behind the last ACK is told by nobody any more.
    fits = worst < units.ack
    print(f"at the receiver: tags of data were worth {came} bytes, it told {told}; at no ACK more than {worst} bytes waited"
          f" (less than {units.ack} may): {'fits' if fits else 'DOES NOT FIT'}")
    return fits


def at_samples(flow, result, units):
    """The window against the kernel's, or the simulator's, own: samples of tcp_info of the connection's client."""
    ports = {port for _, port in flow.ends}
    ends = [f["client"] for f in result["flows"] if f["client_port"] in ports]
    if not ends or not ends[0].get("tcp_info_series"):
        raise Unusable(f"{units.tcp_info}: no samples of tcp_info of this connection (tcp_info_every = \"100us\")")
    # It was connected when it sent the last ACK of the handshake.
    opened = next(s.time for s in flow.segments if s.ends == flow.ends and not s.flags & SYN)
    begin = opened - ends[0]["opened_ns"]
    compared, wrong, at, before, now = 0, [], 0, units.initial, units.initial
    for sample in ends[0]["tcp_info_series"]:
        time, cwnd = begin + sample[0], sample[1][4]
        if not opened < time < flow.history[-1][0]:
            continue
        while at < len(flow.history) and flow.history[at][0] <= time:
            now = flow.history[at][1]
            # ACKs of the same instant may come behind the sample.
            before = now if flow.history[at][0] < time else before
            at += 1
        compared += 1
        if cwnd not in (before, now):
            wrong.append((sample[0], now, cwnd))
    for time, expected, cwnd in wrong[:10]:
        print(f"{time / 1000:.1f} us: expected window {expected}, tcpi_snd_cwnd {cwnd}")
    fits = not wrong and compared >= units.enough
    print(f"tcp_info: {compared - len(wrong)} of {compared} samples have the expected window: {'fits' if fits else 'DOES NOT FIT'}")
    return fits


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sender", help="capture at the sender of the data")
    parser.add_argument("--receiver", help="capture at its receiver")
    parser.add_argument("--tcp-info", help="result.json of the run's point")
    parser.add_argument("--ethertype", type=lambda text: int(text, 0), default=0x8200)
    parser.add_argument("--type", type=int, default=0, help="cc_type that counts")
    parser.add_argument("--data", type=int, default=8, help="bytes of a unit of hint in data")
    parser.add_argument("--ack", type=int, default=64, help="bytes of a unit of hint in feedback")
    parser.add_argument("--beta", type=int, default=512, help="bytes that a mark takes")
    parser.add_argument("--packet", type=int, default=1024, help="bytes of grant that are a packet of window")
    parser.add_argument("--initial", type=int, default=10, help="packets of the first window")
    parser.add_argument("--minimum", type=int, default=1, help="packets of the smallest window")
    parser.add_argument("--tso", action="store_true", help="the sender has TSO: it may hold a third of its window back")
    parser.add_argument("--enough", type=int, default=20, help="comparisons that must be possible")
    return parser.parse_args()


def main():
    units = arguments()
    fits = True
    try:
        senders = connections(units.sender, units.ethertype)
        receivers = connections(units.receiver, units.ethertype) if units.receiver else {}
        result = None
        if units.tcp_info:
            with open(units.tcp_info, encoding="utf-8") as file:
                result = json.load(file)
        if not senders:
            raise Unusable(f"{units.sender}: no TCP in it")
        for ends, segments in senders.items():
            flow = Flow(segments, units)
            flow.run()
            port = sorted(port for _, port in ends)
            fits &= flow.report(f"{units.sender}, ports {port[0]} and {port[1]}")
            if units.receiver:
                if ends not in receivers:
                    raise Unusable(f"{units.receiver}: the connection is not in it")
                fits &= at_receiver(flow, receivers[ends], units)
            if result is not None:
                fits &= at_samples(flow, result, units)
    except Unusable as e:
        print(f"caqm_window: {e}", file=sys.stderr)
        return 2
    except (OSError, ValueError, KeyError) as e:
        print(f"caqm_window: {units.tcp_info}: {e}", file=sys.stderr)
        return 2
    except (struct.error, IndexError) as e:
        print(f"caqm_window: {units.sender}: damaged: {e}", file=sys.stderr)
        return 2
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())
