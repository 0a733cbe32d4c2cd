#!/usr/bin/env python3
"""tcplab link with this machine's TCP: shaped rate, added delay, what the ACK filter does, CPU beside a plain forwarder.

Makes two network namespaces (root, iproute2, gcc), runs target/dist/tcplab (--tcplab) between them, benches/forwarder.c
in its place, and a veth pair, in turn and --runs times; prints medians. Other work on the machine moves all of it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BENCHES = pathlib.Path(__file__).resolve().parent
A, B = (f"tcplab-bench-{os.getpid()}-{side}" for side in "ab")
ADDRESS = ["10.77.0.1", "10.77.0.2"]
TRAFFIC = [sys.executable, str(BENCHES / "traffic.py")]


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def within(namespace, *words):
    """What a program prints in a namespace."""
    done = subprocess.run(["ip", "netns", "exec", namespace, *words], capture_output=True, text=True, check=True)
    return done.stdout


@contextlib.contextmanager
def namespaces():
    """Both, with a server in B."""
    made = []
    try:
        for name in (A, B):
            ip("netns", "add", name)
            made.append(name)
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)


@contextlib.contextmanager
def server():
    process = subprocess.Popen(["ip", "netns", "exec", B, *TRAFFIC, "serve"])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


class Link:
    """tcplab link between the namespaces; `looks` and `end` are there afterwards."""

    def __init__(self, tcplab, a_to_b=None, b_to_a=None, gap=None):
        words = [tcplab, "link", f"netns:{A}", f"netns:{B}", "--json", "--interval", "500ms"]
        for option, value in (("--a-to-b", a_to_b), ("--b-to-a", b_to_a), ("--gap", gap)):
            words += [option, value] if value else []
        self.words = words
        self.lines = []

    def __enter__(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=pipe, text=True)
        assert json.loads(self.process.stdout.readline())["event"] == "start"
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=10)
        lines = [json.loads(line) for line in out.splitlines()]
        self.looks = [line for line in lines if line["event"] == "look"]
        self.end = lines[-1]
        assert self.end["event"] == "end", self.end

    def cost(self):
        """(frames, CPU seconds)"""
        frames = sum(self.end[way]["frames_out"] for way in ("a_to_b", "b_to_a"))
        return frames, self.end["cpu_user_s"] + self.end["cpu_system_s"]

    def rate(self, way, begin, end):
        """Mbit/s that went out between two times, frames with their Ethernet headers, as the qdisc counts them."""
        looks = [look for look in self.looks if begin <= look["at_s"] <= end]
        first, last = looks[0], looks[-1]
        return (last[way]["bytes_out"] - first[way]["bytes_out"]) * 8 / (last["at_s"] - first["at_s"]) / 1e6


class Forwarder:
    """benches/forwarder.c between the namespaces."""

    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.process = subprocess.Popen([self.program, A, B], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        for namespace, address in zip((A, B), ADDRESS):
            ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "tap0")
            ip("-n", namespace, "link", "set", "tap0", "up")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        frames, user, system = self.process.communicate(timeout=10)[0].split()
        self.frames, self.cpu = int(frames), float(user) + float(system)

    def cost(self):
        return self.frames, self.cpu


class Veth:
    """The kernel's own link between the namespaces."""

    def __enter__(self):
        ip("-n", A, "link", "add", "veth0", "type", "veth", "peer", "name", "veth0", "netns", B)
        for namespace, address in zip((A, B), ADDRESS):
            ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "veth0")
            ip("-n", namespace, "link", "set", "veth0", "up")
        return self

    def __exit__(self, *_):
        ip("-n", A, "link", "del", "veth0")


def traffic(*words):
    """Numbers that the traffic at A prints."""
    return [float(word) for word in within(A, *TRAFFIC, *map(str, words)).split()]


def median(values):
    return statistics.median(values)


def shaped(tcplab, seconds):
    rates = []
    for way, word in (("a_to_b", "send"), ("b_to_a", "fetch")):
        with Link(tcplab, "cake bandwidth 1mbit", "cake bandwidth 30mbit") as link:
            traffic(word, ADDRESS[1], seconds + 3)
        # The queue is full from the second second on.
        rates.append(link.rate(way, 2, 2.1 + seconds))
    return rates


def delays(tcplab):
    """Median round trip over nothing but a veth pair, a plain link, and one with cake both ways, in ms."""
    links = [Veth(), Link(tcplab), Link(tcplab, "cake bandwidth 1mbit", "cake bandwidth 30mbit")]
    medians = []
    for link in links:
        with link:
            time.sleep(0.2)
            medians.append(median(traffic("ping", ADDRESS[1], 200)) * 1e3)
    return medians


def filtered(tcplab, seconds):
    """Goodput down and up in Mbit/s with 4 flows each way, by filter."""
    table = '{{ qdisc = "cake bandwidth {} besteffort {}", delay = "12ms" }}'
    results = {}
    for words in ("no-ack-filter", "ack-filter", "ack-filter-aggressive"):
        up, down = table.format("1mbit", words), table.format("30mbit", "")
        with Link(tcplab, up, down) as link:
            sent, fetched = traffic("both", ADDRESS[1], seconds, 4)
        acks = link.end["a_to_b"]["ack_drops"]
        results[words] = (fetched * 8 / 1e6, sent * 8 / 1e6, acks)
    return results


def costs(tcplab, program, seconds):
    """CPU at 100 Mbit/s: name -> (Mbit/s of payload, CPU us a frame, percent of a core)."""
    # With headers 99.5 Mbit/s of frames: the same sender, beneath what the shaped links let through.
    rate = 95e6
    links = {
        "forwarder, sender paced": (Forwarder(program), rate),
        "link plain, sender paced": (Link(tcplab), rate),
        "link cake 100 Mbit/s, sender paced": (Link(tcplab, "cake bandwidth 100mbit"), rate),
        "link cake 100 Mbit/s, gap 0, paced": (Link(tcplab, "cake bandwidth 100mbit", gap="0s"), rate),
        "link FIFO 100 Mbit/s": (Link(tcplab, '{ rate = "100mbit", limit = 200 }'), None),
        "link cake 100 Mbit/s": (Link(tcplab, "cake bandwidth 100mbit"), None),
    }
    results = {}
    for name, (link, paced) in links.items():
        with link:
            words = ["send", ADDRESS[1], seconds] + ([paced] if paced else [])
            total, span = traffic(*words)
        frames, cpu = link.cost()
        results[name] = (total * 8 / span / 1e6, cpu / frames * 1e6, cpu / span * 100)
    return results


def most(tcplab, program, seconds):
    """The highest rate: name -> (Gbit/s of payload, frames a CPU second of the forwarder)."""
    links = {
        "veth": Veth(),
        "TAP, one frame a read (forwarder)": Forwarder(program),
        "link plain (super-segments pass)": Link(tcplab),
        "link FIFO 100 Gbit/s": Link(tcplab, '{ rate = "100gbit", limit = 1000 }'),
        "link cake unlimited": Link(tcplab, "cake unlimited"),
        "link cake 10 Gbit/s": Link(tcplab, "cake bandwidth 10gbit"),
    }
    results = {}
    for name, link in links.items():
        with link:
            total, span = traffic("send", ADDRESS[1], seconds)
        each = None
        if hasattr(link, "cost"):
            frames, cpu = link.cost()
            each = frames / cpu
        results[name] = (total * 8 / span / 1e9, each)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tcplab", default=str(BENCHES.parent / "target" / "dist" / "tcplab"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    tcplab, runs, seconds = options.tcplab, options.runs, options.seconds
    with tempfile.TemporaryDirectory() as folder, namespaces(), server():
        program = str(pathlib.Path(folder) / "forwarder")
        subprocess.run(["cc", "-O2", "-o", program, str(BENCHES / "forwarder.c")], check=True)
        print(f"Linux {os.uname().release}, CUBIC, load {os.getloadavg()[0]:.1f}, medians of {runs}")
        rates = [shaped(tcplab, seconds) for _ in range(runs)]
        for way, setting, i in (("up", 1, 0), ("down", 30, 1)):
            each = [rate[i] for rate in rates]
            print(f"{'shaped ' + way:40} {median(each):9.4f} of {setting} Mbit/s ({min(each):.4f} to {max(each):.4f})")
        each = [delays(tcplab) for _ in range(runs)]
        for i, name in enumerate(("veth", "link plain", "link cake 1/30 Mbit/s")):
            values = [delay[i] for delay in each]
            print(f"{'round trip, idle, ' + name:40} {median(values):9.3f} ms median ({min(values):.3f} to {max(values):.3f})")
        results = [filtered(tcplab, 2 * seconds) for _ in range(runs)]
        for words in results[0]:
            down, up, acks = (median([result[words][i] for result in results]) for i in range(3))
            print(f"{'4 up 4 down, ' + words:40} {down:9.2f} Mbit/s down, {up:.3f} up, {acks:.0f} ACKs filtered")
        results = [costs(tcplab, program, seconds) for _ in range(runs)]
        base = median([result["forwarder, sender paced"][2] for result in results])
        for name in results[0]:
            rate, frame, share = (median([result[name][i] for result in results]) for i in range(3))
            print(f"{name:40} {rate:9.2f} Mbit/s, {frame:5.2f} CPU us a frame, {share:5.2f} % of a core, {share / base:.2f} x forwarder")
        results = [most(tcplab, program, seconds / 2) for _ in range(runs)]
        for name in results[0]:
            rate = median([result[name][0] for result in results])
            each = [result[name][1] for result in results if result[name][1]]
            frames = f", {median(each):,.0f} frames a CPU second" if each else ""
            print(f"{'most: ' + name:40} {rate:9.2f} Gbit/s{frames}")


main()
