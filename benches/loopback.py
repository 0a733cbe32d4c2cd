#!/usr/bin/env python3
"""tcplab bench beside netperf and iperf3 on loopback: the same workloads in turns, medians and ratios.

    benches/loopback.py [--tcplab BIN] [--runs 7] [--time 1] [--cpus pinned|one] [WORKLOAD ...]

Both ends are on a processor each (pinned), or on the second one (one): transactions differ least there.
netperf is in Debian's non-free, iperf3 in main; what is not installed is left out. Peers' servers are started on free
ports and ended again.
"""

import argparse
import json
import os
import shutil
import subprocess
import time

from turns import free_port, tell

# Processors of client and server.
PLACES = {"pinned": "0,1", "one": "1,1"}

SUITE = ["TCP_STREAM:64", "TCP_STREAM:512", "TCP_STREAM:16384", "TCP_STREAM:131072", "TCP_RR", "TCP_CRR", "UDP_RR"]


def ours(args, workload):
    out = subprocess.run(
        [args.tcplab, "bench", workload, "--repeat", "1", "--for", f"{args.time}s", "--warm", "200ms",
         "--cpus", args.cpus, "--json"] + (["--congestion", args.congestion] if args.congestion else []),
        check=True, capture_output=True, text=True,
    ).stdout
    return json.loads(out)["arms"][0]["metrics"][0]["runs"][0]["value"]


def netperf(args, port, test, size=None):
    words = ["netperf", "-H", "127.0.0.1", "-p", str(port), "-t", test, "-l", str(args.time), "-P", "0", "-T", PLACES[args.cpus]]
    words += ["--"]
    if size:
        words += ["-m", str(size)]
    if args.congestion and test.startswith("TCP"):
        words += ["-K", args.congestion]
    out = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    first = next(line for line in out.splitlines() if line.strip())
    return float(first.split()[4] if size else first.split()[5])


def iperf3(args, port, size):
    out = subprocess.run(
        ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-t", str(args.time), "-O", "1", "-l", str(size), "-A", PLACES[args.cpus], "-J"]
        + (["-C", args.congestion] if args.congestion else []),
        check=True, capture_output=True, text=True,
    ).stdout
    return json.loads(out)["end"]["sum_received"]["bits_per_second"] / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tcplab", default="target/dist/tcplab")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--time", type=int, default=1)
    parser.add_argument("--congestion", help="TCP_CONGESTION of all three; without it the machine's")
    parser.add_argument("--cpus", choices=PLACES, default="pinned")
    parser.add_argument("workloads", nargs="*", default=SUITE, help="such as TCP_STREAM:64 or TCP_RR")
    args = parser.parse_args()
    servers, ports = [], {}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        if shutil.which("netserver"):
            ports["netperf"] = free_port()
            servers.append(subprocess.Popen(["netserver", "-D", "-4", "-p", str(ports["netperf"])], **quiet))
        if shutil.which("iperf3"):
            ports["iperf3"] = free_port()
            servers.append(subprocess.Popen(["iperf3", "-s", "-p", str(ports["iperf3"])], **quiet))
        time.sleep(0.5)
        rows = []
        for workload in args.workloads:
            test, _, size = workload.partition(":")
            peers = {}
            if "netperf" in ports:
                peers["netperf"] = lambda test=test, size=size: netperf(args, ports["netperf"], test, size)
            if "iperf3" in ports and test == "TCP_STREAM":
                peers["iperf3"] = lambda size=size: iperf3(args, ports["iperf3"], size)
            rows.append((workload, "Mbit/s" if size else "1/s", peers))
        print(f"Linux {os.uname().release}, medians of {args.runs} in turns (least to most), load {os.getloadavg()[0]:.1f}")
        for name, unit, peers in rows:
            tell(name, unit, [("tcplab", lambda name=name: ours(args, name)), *peers.items()], args.runs)
    finally:
        for server in servers:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
