#!/usr/bin/env python3
"""CPU time of 10 simulated milliseconds of 2 x 25 -> 10 Gbit/s.

Runs target/dist/tcplab (--tcplab) on the variants of examples/caqm-incast.toml, cut to --ms simulated milliseconds and
without captures, --runs times each. CPU seconds are those of the thread that simulates; other work on the machine moves
them. Twice the time less once: what begins and ends a run falls out.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(tcplab, text, ms):
    """The points of one run over so many milliseconds."""
    text = re.sub(r'duration = "[^"]*"', f'duration = "{ms}ms"', text)
    text = re.sub(r"^(link|tcp_info)_every = .*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'^queue_from = .*$', "", text, flags=re.MULTILINE)
    text = re.sub(r'^measures = \[.*?\]$', 'measures = ["flow.goodput_bps"]', text, flags=re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "incast.toml"
        file.write_text(text)
        done = subprocess.run(
            [tcplab, "run", file, "--on", "model", "--json", "--jobs", "1"], cwd=folder, capture_output=True, text=True
        )
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["points"]


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--tcplab", default=ROOT / "target/dist/tcplab", help="the program")
    parse.add_argument("--runs", type=int, default=5, help="runs of each")
    parse.add_argument("--ms", type=int, default=100, help="simulated milliseconds")
    args = parse.parse_args()
    text = (ROOT / "examples/caqm-incast.toml").read_text()
    short = [run(args.tcplab, text, args.ms) for _ in range(args.runs)]
    long = [run(args.tcplab, text, 2 * args.ms) for _ in range(args.runs)]
    for number, point in enumerate(short[0]):
        of = lambda runs, key: [each[number]["cost"][key] for each in runs]
        cpu = [b - a for a, b in zip(of(short, "user_s"), of(long, "user_s"))]
        packets = of(long, "tcp_packets")[0] - of(short, "tcp_packets")[0]
        axes = " ".join(str(value) for value in point["axes"].values())
        ms = 1000 * statistics.median(cpu) * 10 / args.ms
        print(
            f"{axes:32} {ms:7.2f} CPU ms for 10 ms (best {1000 * min(cpu) * 10 / args.ms:.2f}), "
            f"{packets * 10 / args.ms:,.0f} packets"
        )


if __name__ == "__main__":
    main()
