"""Captures that others made and nobody labelled: how many streams get an all-clear, findings, not-checked; any crash."""

import collections
import concurrent.futures
import json
import random
import subprocess
from pathlib import Path

from ids import not_checked


def analyse(binary, path):
    try:
        done = subprocess.run([binary, "analyze", "--json", path], capture_output=True, timeout=300)
    except subprocess.TimeoutExpired:
        return {"broken": "more than 300 s"}
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return {"broken": f"exit code {done.returncode}: {done.stderr[-200:].decode(errors='replace')}"}
    if done.returncode not in (0, 1, 2):
        return {"broken": f"exit code {done.returncode}"}
    return {"document": document, "exit": done.returncode}


def one(binary, path):
    """Counts of a file: streams, those with findings, with something not checked, with neither (an all-clear)."""
    answer = analyse(binary, path)
    if "broken" in answer:
        return {"broken": f"{path}: {answer['broken']}"}
    out, ids = collections.Counter(files=1, unread=int(answer["exit"] == 2)), collections.Counter()
    for capture in answer["document"].get("captures", []):
        found = collections.defaultdict(set)
        for x in capture["findings"]:
            found[x["stream"]].add(x["id"])
        for stream in capture["streams"]:
            here, blind = found.get(stream["stream"], set()), bool(not_checked(stream))
            out["streams"] += 1
            out["with findings" if here else "not all checked" if blind else "all-clear"] += 1
            out["with findings, not all checked"] += bool(here and blind)
            unknown = stream.get("budget_us", {}).get("unknown", 0)
            out["us"] += stream["duration_us"] if stream.get("budget_us") else 0
            out["us unknown"] += unknown
            ids.update(here)
    return {"counts": out, "ids": ids}


def compare(folder, binaries, jobs):
    """Prints a table with a column for each binary."""
    files = sorted(x for x in Path(folder).rglob("*") if x.is_file())
    columns = []
    for binary in binaries:
        counts, ids, broken = collections.Counter(), collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for part in pool.map(lambda x, b=binary: one(b, x), files):
                if "broken" in part:
                    broken.append(part["broken"])
                else:
                    counts += part["counts"]
                    ids += part["ids"]
        columns.append((counts, ids, broken))
    print(f"{len(files)} files\n\n| | " + " | ".join(b.name for b in binaries) + " |\n|---|" + "---|" * len(binaries))
    for name in ("files", "unread", "streams", "all-clear", "with findings", "not all checked", "with findings, not all checked"):
        print(f"| {name} | " + " | ".join(share(c, name) for c, _, _ in columns) + " |")
    print("| time unknown | " + " | ".join(f"{c['us unknown'] / c['us']:.1%}" if c["us"] else "no budget" for c, _, _ in columns) + " |")
    print("| crashed | " + " | ".join(str(len(b)) for _, _, b in columns) + " |\n")
    print("| finding | " + " | ".join(b.name for b in binaries) + " |\n|---|" + "---|" * len(binaries))
    for i in sorted(set().union(*(x for _, x, _ in columns))):
        print(f"| `{i}` | " + " | ".join(str(x[i]) for _, x, _ in columns) + " |")
    for _, _, broken in columns:
        for text in broken:
            print(text)


def sample(folder, binary, number, seed, jobs):
    """Prints findings drawn at random, as evenly over their ids as there are some: for a look by hand."""
    files = sorted(x for x in Path(folder).rglob("*") if x.is_file())
    found = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, answer in zip(files, pool.map(lambda x: analyse(binary, x), files)):
            for capture in answer.get("document", {}).get("captures", []):
                for x in capture["findings"]:
                    found[x["id"]].append((path, x))
    rng = random.Random(seed)
    for x in found.values():
        rng.shuffle(x)
    while number and any(found.values()):
        for i in sorted(found):
            if found[i] and number:
                path, x = found[i].pop()
                number -= 1
                print(f"{x['id']}  {path}  stream {x['stream']}  packets {x['packets'][:8]}\n    {x['title']}\n    tshark -r '{path}' -Y 'tcp.stream=={x['stream']}'")


def share(counts, name):
    if name in ("files", "unread", "streams") or not counts["streams"]:
        return f"{counts[name]:,}"
    return f"{counts[name]:,} ({counts[name] / counts['streams']:.1%})"
