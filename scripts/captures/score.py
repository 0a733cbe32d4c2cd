#!/usr/bin/env python3
"""Precision and recall of `tcplab analyze` on the labelled corpus: score.py TCPLAB CORPUS [--misses N] [--family NAME]

For each finding id: right (the id is among the causes), allowed (true but not asked for, or a matter of words; not counted),
false, missed. `one_of`: any id of the list answers it. A capture's ids are counted once, however many findings it has.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
from pathlib import Path


def analyse(tcplab, path):
    done = subprocess.run([tcplab, "analyze", "--json", path], capture_output=True, text=True, timeout=120)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, f"exit {done.returncode}: {done.stderr[-300:]}"
    return document, ""


def ids(document):
    return {x["id"] for c in document["captures"] for x in c["findings"]}


def against_kernel(label, document):
    """Pairs (what, analyser's figure, kernel's figure) that a capture taken at a host allows to compare."""
    point = label["captured_at"]
    streams = [s for c in document["captures"] for s in c["streams"]]
    if point == "mid" or label["artefact"] or len(streams) != 1:
        return []
    own, counters = streams[0]["client_to_server" if point == "a" else "server_to_client"], label["counters"][point]
    syn, timeouts = counters.get("TcpExtTCPSynRetrans", 0), counters.get("TcpExtTCPTimeouts", 0)
    pairs = [] if syn else [("retransmissions", own["retransmissions"]["total"], counters.get("TcpRetransSegs", 0))]
    if not syn:
        pairs.append(("by timeout", own["retransmissions"]["rto"] > 0, timeouts > 0))
    if label["params"].get("workload") == "stream":
        pairs.append(("delayed ACKs", own["acks_sent"]["delayed"], counters.get("TcpExtDelayedACKs", 0)))
    return pairs


def main():
    a = argparse.ArgumentParser(description="precision and recall on the labelled corpus")
    a.add_argument("tcplab")
    a.add_argument("corpus", type=Path)
    a.add_argument("--misses", type=int, default=5, help="how many captures to name for each id and kind of error")
    a.add_argument("--family")
    options = a.parse_args()
    labels = [json.loads(line) for line in (options.corpus / "index.jsonl").read_text().splitlines()]
    labels = [x for x in labels if options.family in (None, x["family"])]
    right, false, missed = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    broken = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda x: analyse(options.tcplab, options.corpus / x["file"]), labels))
    agree, differ = collections.Counter(), collections.defaultdict(list)
    for label, (document, problem) in zip(labels, answers):
        if document is None:
            broken.append(f"{label['file']}: {problem}")
            continue
        found = ids(document)
        for what, ours, kernels in against_kernel(label, document):
            if ours == kernels:
                agree[what] += 1
            else:
                differ[what].append(f"{label['file']}: {ours}, kernel {kernels}")
        wanted, allowed = set(label["causes"]), set(label["allowed"])
        for group in label["one_of"]:
            hit = found & set(group)
            if hit:
                right[min(hit)] += 1
            else:
                missed[group[0]].append(label["file"])
            allowed |= set(group)
        for i in wanted & found:
            right[i] += 1
        for i in wanted - found:
            missed[i].append(label["file"])
        for i in found - wanted - allowed:
            false[i].append(label["file"])
    print(f"{len(labels)} captures, {len(broken)} not analysed\n\n| id | right | false | missed | precision | recall |\n|---|---|---|---|---|---|")
    for i in sorted({*right, *false, *missed}):
        r, f, m = right[i], len(false[i]), len(missed[i])
        print(f"| {i} | {r} | {f} | {m} | {r / (r + f) if r + f else 1:.4f} | {r / (r + m) if r + m else 1:.4f} |")
    for what in sorted({*agree, *differ}):
        print(f"\n{what} as the kernel counts them: {agree[what]} of {agree[what] + len(differ[what])} captures")
        for text in differ[what][:options.misses]:
            print(f"  {text}")
    for title, files in (("false", false), ("missed", missed)):
        for i in sorted(files):
            print(f"\n{title} {i}:")
            for name in files[i][:options.misses]:
                print(f"  {name}")
    for text in broken[:options.misses]:
        print(f"not analysed: {text}")


if __name__ == "__main__":
    main()
