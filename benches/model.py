#!/usr/bin/env python3
"""Speed and memory of the model: TCP packets and connections for each CPU second, bytes of an idle connection.

Runs target/dist/tcplab (--tcplab) on examples/bench-*.toml, --runs times each, and prints the median and the
best run. CPU seconds are those of the thread that simulates; other work on the machine moves them.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(tcplab, file):
    """The points of one run, one after another in a process of its own."""
    done = subprocess.run(
        [tcplab, "run", file, "--on", "model", "--json", "--jobs", "1"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["points"]


def rates(tcplab, file, of, unit, runs):
    """Prints the rates of an experiment, one line for each of its points."""
    points = [run(tcplab, ROOT / file) for _ in range(runs)]
    name = pathlib.Path(file).stem
    for number, first in enumerate(points[0]):
        each = [p[number]["cost"] for p in points]
        values = [c[of] / c["user_s"] for c in each]
        axes = " ".join(str(v) for v in first["axes"].values())
        print(
            f"{name + ' ' + axes:24} {statistics.median(values):12,.0f} {unit} / CPU s (best {max(values):,.0f}), "
            f"{each[0][of]:,} {unit}, peak {each[0]['peak_rss_bytes'] / 1e6:.0f} MB"
        )


def idle(tcplab):
    """Prints the bytes that an idle connection takes: the growth of the process's peak with their number.

    That is both ends with their sockets, applications and events, and what the allocator adds. What is in flight while
    they open is the same for both numbers. The results of the run come after the hosts' TCP is gone, in its memory.
    """
    text = (ROOT / "benches" / "idle.toml").read_text()
    axis = '{ axis = [7000, 14000], name = "n" }'
    assert axis in text, "benches/idle.toml has another axis"
    rss = []
    # A port takes no more than 14,000; there are two.
    for connections in (7_000, 14_000):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text.replace(axis, str(connections)))
            file.flush()
            rss.append(run(tcplab, file.name)[0]["cost"]["peak_rss_bytes"])
    print(f"{'idle':24} {(rss[1] - rss[0]) / 14_000:12,.0f} bytes for each idle connection, both ends")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tcplab", default=ROOT / "target/dist/tcplab")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    rates(args.tcplab, "examples/bench-bulk-1.toml", "tcp_packets", "packets", args.runs)
    rates(args.tcplab, "examples/bench-bulk-100.toml", "tcp_packets", "packets", args.runs)
    rates(args.tcplab, "examples/bench-window.toml", "tcp_packets", "packets", args.runs)
    rates(args.tcplab, "examples/bench-web.toml", "connections", "connections", args.runs)
    rates(args.tcplab, "benches/ports.toml", "connections", "connections", args.runs)
    idle(args.tcplab)


if __name__ == "__main__":
    main()
