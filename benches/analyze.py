#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How fast and how large is `tcplab analyze --json`, beside tshark and tcptrace, and is its answer right?

Runs the dist build and the peers in turn on the trace of make_trace.py, and prints packets per user CPU
second and peak memory of each, the ratios, and what the answer must agree with: the connections that the
kernel opened and the segments that it counted as retransmitted. Exit 1 when the answer is wrong or the
memory is above the bound; speed is printed, and fails only with --floor.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from measure import CACHE, MB, cost, dist_build

TSHARK_FIELDS = ["frame.number", "tcp.stream", "tcp.analysis.retransmission", "tcp.analysis.fast_retransmission",
                 "tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order", "tcp.analysis.lost_segment",
                 "tcp.analysis.duplicate_ack", "tcp.analysis.ack_rtt", "tcp.analysis.bytes_in_flight"]


def peers(trace):
    """The peers that are installed: name -> command. tshark without reassembly, which would flatter us."""
    found = {}
    if shutil.which("tcptrace"):
        found["tcptrace -n -l -r -W"] = ["tcptrace", "-n", "-l", "-r", "-W", trace]
    if shutil.which("tshark"):
        fields = [w for f in TSHARK_FIELDS for w in ("-e", f)]
        off = ["-o", "tcp.desegment_tcp_streams:FALSE", "-o", "tcp.reassemble_out_of_order:FALSE",
               "--disable-heuristic", "rpc_tcp"]
        found["tshark, analysis fields"] = ["tshark", "-n", "-r", trace, *off, "-T", "fields", *fields]
    return found


def answer(path):
    """What the JSON says, summed over the streams."""
    with open(path, "rb") as file:
        document = json.load(file)
    capture = document["captures"][0]
    directions = [s[d] for s in capture["streams"] for d in ("client_to_server", "server_to_client")]
    kinds = {}
    for d in directions:
        for kind, n in d["retransmissions"].items():
            if isinstance(n, int):
                kinds[kind] = kinds.get(kind, 0) + n
    return {"packets": capture["packets"], "tcp_packets": capture["tcp_packets"], "streams": len(capture["streams"]),
            "retransmissions": kinds, "findings": len(capture["findings"])}


def check(truth, said):
    """Compares with the kernel; gives the lines to print and whether all is right."""
    counted = truth["counted"]
    rows = [("packets", said["packets"], counted["packets"]),
            ("TCP packets", said["tcp_packets"], counted["tcp_packets"]),
            ("connections", said["streams"], truth["connections"]),
            ("retransmissions", said["retransmissions"].get("total"), truth["retransmissions"])]
    lines = [f"  {'same' if a == b else 'DIFFERS':8} {name:16} tcplab {a:>9,}   kernel {b:>9,}" for name, a, b in rows]
    kernel = {k.removeprefix("TcpExt"): sum(truth["counters"][n].get(k, 0) for n in truth["counters"])
              for k in ("TcpExtTCPLossProbes", "TcpExtTCPTimeouts", "TcpExtTCPFastRetrans", "TcpExtTCPSlowStartRetrans",
                        "TcpExtTCPSynRetrans")}
    lines.append(f"           by kind: tcplab {said['retransmissions']}")
    lines.append(f"                    kernel {kernel} (probes with new data are no retransmission)")
    return lines, all(a == b for _, a, b in rows)


def report(name, costs, packets):
    rate = packets / statistics.median(c.user for c in costs)
    user = " ".join(f"{c.user:.2f}" for c in costs)
    print(f"  {name:26} {rate:>12,.0f} packets/user s   {max(c.rss for c in costs) / MB:>7,.0f} MB peak"
          f"   user s: {user}   system s: {statistics.median(c.system for c in costs):.2f}")
    return rate


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", type=Path, default=CACHE, help="where make_trace.py wrote (default: %(default)s)")
    p.add_argument("--runs", type=int, default=5, help="runs of tcplab")
    p.add_argument("--peer-runs", type=int, default=1, help="runs of each peer (0: none)")
    p.add_argument("--floor", type=float, default=0, help="fail below this many packets per user CPU second")
    p.add_argument("--tcplab", type=Path, help="the command to measure (default: build it)")
    args = p.parse_args()
    trace = args.dir / "trace.pcap"
    if not trace.exists():
        sys.exit(f"analyze: no {trace}: run benches/make_trace.py first")
    truth = json.loads((args.dir / "trace.json").read_text())
    packets = truth["counted"]["packets"]
    tcplab = args.tcplab or dist_build()
    other = peers(trace) if args.peer_runs else {}

    ours, theirs = [], {name: [] for name in other}
    output = args.dir / "answer.json"
    for turn in range(max(args.runs, args.peer_runs)):
        if turn < args.runs:
            with open(output, "wb") as file:
                ours.append(cost([tcplab, "analyze", "--json", trace], file))
            if ours[-1].code != 0:
                sys.exit(f"analyze: tcplab ended with {ours[-1].code}")
        for name, words in other.items():
            if turn < args.peer_runs:
                theirs[name].append(cost(words))

    print(f"trace: {packets:,} packets, {trace.stat().st_size / MB:,.0f} MB, {truth['connections']:,} connections on "
          f"{truth['counted']['four_tuples']:,} four-tuples, Linux {truth['kernel']}")
    mine = report("tcplab analyze --json", ours, packets)
    for name, costs in theirs.items():
        print(f"  {'':26} {mine / report(name, costs, packets):>12,.1f} times as fast")
    print(f"answer: {output.stat().st_size / MB:,.0f} MB of JSON")
    lines, right = check(truth, answer(output))
    print("\n".join(lines))
    # Open at one time: at most the 256 that the load keeps in flight, and the bulk flows; 512 leaves room.
    bound = 64 * MB + 1000 * 512 + 64 * truth["counted"]["four_tuples"]
    peak = max(c.rss for c in ours)
    print(f"  {'within' if peak <= bound else 'ABOVE':8} memory           peak {peak / MB:,.1f} MB, bound {bound / MB:,.1f} MB")
    if mine < args.floor:
        print(f"  BELOW    {args.floor:,.0f} packets per user CPU second")
    sys.exit(0 if right and peak <= bound and mine >= args.floor else 1)


if __name__ == "__main__":
    main()
