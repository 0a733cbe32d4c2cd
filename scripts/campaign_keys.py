#!/usr/bin/env python3
"""Experiment files drawn from the contract, on the model and on a kernel: `make campaign-keys`.

`tcplab stacks --keys --json` says what every key, socket option and sysctl takes and who honours it. Each file is a small
experiment with a few of them at drawn values (also at the ends of their ranges). Both stacks must answer, or both must
refuse, unless the contract says that only one of them honours what the file sets. Every other difference is put into a
class with its cause (CAUSES); what no class explains is printed with its file. Exit code 1: more than 1 % are unexplained.
"""

import argparse
import collections
import concurrent.futures
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "stream": {"count": 40, "every": "20ms"}, "echo": {"count": 20}, "write-write-read": {"count": 20}, "bulk": {"bytes": "400k"}, "request-response": {"count": 20},
    "connect-request-response": {"count": 8}, "web": {}, "messages": {"messages": ["client 200", "server 5k", "client 300 after 30ms", "server 1k"]}, "sink": {"hold": "300ms"}, "udp-stream": {"count": 20}, "udp-rr": {"count": 20},
    "udp-ping": {"count": 10}, "ping": {"count": 10},
}
# Texts have a language of their own: samples of each.
TEXTS = {
    "congestion": ["reno", "cubic", "bbr", "dctcp", "vegas", "westwood"], "quickack": ["leave", "keep", 1, 0, "off"], "tos": ["EF", 0x10, "AF11", 184, "CS1", "0x28"],
    "burst_loss": ["1% 30%", "2% 40% 50%"], "reordering": ["5% by 3ms", "2% by 10ms"], "spikes": ["2% median 50ms sigma 0.5", "1% median 250ms sigma 0.8"],
    "qdisc": ["fq_codel", "pfifo limit 30", "cake bandwidth 8mbit", "tbf rate 5mbit burst 15k latency 40ms", "fq", "codel", "red limit 90000 min 9000 max 30000 avpkt 1000 burst 20 probability 0.1", "netem delay 5ms", "sfq"],
    "route": ["initcwnd 4", "rto_min 100ms", "quickack 1", "mtu lock 1000", "advmss 600", "features ecn", "initrwnd 20"], "outage": [["200ms..300ms"], ["50ms..60ms", "400ms..450ms"]],
    "change": [["100ms rate 2mbit"], ["50ms delay 40ms", "300ms loss 1%"], ["80ms limit 10"], ["60ms qdisc fq_codel"], ["1ms net.ipv4.tcp_sack=0"]], "ip": ["ipv4", "ipv6"],
    "middlebox": [["strip-options timestamp,sack-permitted"], ["set-mss 900"], ["ecn-tcp-remove", "ecn-ip-ect 0"], ["drop-options sack"]], "inject": [["100ms rst"], ["50ms rst seq +200", "90ms syn"], ["80ms ack ack -1000"]],
    "drop": [["data 3-5"], ["frame 7"], ["syn 1"], ["fin 1"]], "duplicate": [["data 4"], ["ack 2"]], "mark": [["data 5-9"]], "late": [["data 4 by 20ms"], ["ack 3 by 5ms"]], "tolerate": [["card"], ["cpu"]],
    "sizes": [[1, 500, 20_000], "3 of lognormal(median 15kB, sigma 1)", "200 of uniform(1..2000)"],
    "messages": [["client 200 more", "server 5k at once"], ["client 700 x 4 after 5ms", "client shutdown", "server 90k"], ["client 300", "server 40k", "client close after 50ms at once"], ["server 5k", "server close", "client 10"]],
    "offload": ["none", "tso", "gro"], "by": ["tcplab", "kernel"], "profile": ["linux-6.1", "linux-5.14"],
}
# Not drawn: what says where and how a run is made, names, and what is made of other tables.
LEFT = {"name", "title", "measures", "schema", "run", "host", "link", "app", "variant", "report", "kind", "client", "server", "port", "between", "stacks", "repeat", "seed", "max", "captures", "tcp_info",
        "snap", "count", "forward", "socket", "client_socket", "server_socket", "sysctl", "behaviour", "a_to_b", "b_to_a", "connections", "boot", "hold", "log", "cpu"}
# Values beyond these make a run of hours or of GB.
MOST = {"time": 2_000_000_000, "size": 200_000, "whole number": 400, "rate": 10**9}
LEAST = {"rate": 200_000}

CAUSES = [
    ("the kernel refuses the value of a sysctl", r"net\.[a-z0-9_.]+.*(Invalid argument|refuse|does not take|has no)"),
    ("the kernel has no such sysctl", r"(no such sysctl|has no sysctl|No such file)"),
    ("a socket option that the kernel refuses", r"(setsockopt|TCP_[A-Z]+|SO_[A-Z]+).*(Invalid argument|EINVAL|No such file|ENOENT|Operation not)"),
    ("the kernel lacks a congestion control", r"congestion control"),
    ("a size that the device of the kernel refuses", r"(mtu|MTU).*(Invalid argument|refuse|smallest|largest|at least)"),
]


def drawn(key, rng):
    """A value of a key, as TOML takes it, or None: it has a language that is not known here."""
    name, takes = key.get("key") or key["sysctl"], key["takes"]
    if name in TEXTS:
        return rng.choice(TEXTS[name])
    if takes == "true or false":
        return rng.choice([True, False])
    if takes == "percentage":
        return f"{rng.choice([0, 0.5, 2, 10])}%"
    low, high = key.get("range") or (None, None)
    if takes in MOST and low is not None:
        low, high = max(low, LEAST.get(takes, low)), min(high, MOST[takes])
        n = rng.choice([low, high, rng.randint(low, high), int(low * (max(high, 1) / max(low, 1)) ** rng.random())])
        return {"time": f"{n}ns", "size": n, "rate": f"{n}bit", "whole number": n}[takes]
    if takes == "list of times":
        return [rng.choice(["0ms", "20ms"])]
    return None


def sysctl(row, rng):
    """A value of a sysctl: an end of its range, its default, or one between."""
    low, high = row.get("range") or (0, 1)
    if row["takes"] == "0 or 1":
        return rng.choice([0, 1])
    if row["takes"] != "number" or low is None:
        return None
    default = int(row["default"]) if str(row["default"]).lstrip("-").isdigit() else low
    return rng.choice([low, high, default, rng.randint(low, high), max(low, min(high, default * 2)), max(low, min(high, default // 2))])


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def experiment(contract, rng):
    """A file and what it sets: [(table, key)]."""
    kind = rng.choice(list(KINDS))
    tables = {"run": {"max": "20s"}, "app": {"kind": kind, **KINDS[kind]}, "host": {}, "link": {"delay": rng.choice(["0ms", "3ms", "20ms"])}, "way": {}, "socket": {}, "sysctl": {}}
    names = {"run": ("run",), "app": ("app", f"app ({kind})"), "host": ("host",), "link": ("link",), "way": ("way",), "socket": ("socket",)}
    keys = [(t, k) for t, which in names.items() for k in contract["keys"] if k["table"] in which and k["key"] not in LEFT]
    sysctls = [("sysctl", s) for s in contract["sysctls"]]
    put = []
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
        table, key = rng.choice(sysctls if rng.random() < 0.4 else keys)
        value = sysctl(key, rng) if table == "sysctl" else drawn(key, rng)
        if value is not None:
            name = key.get("key") or key["sysctl"]
            tables[table][name] = value
            put.append((table, name))
    lines = ["[run]", *(f"{k} = {toml(v)}" for k, v in tables["run"].items())]
    lines += ["[[host]]", 'name = "client"', *(f"{k} = {toml(v)}" for k, v in tables["host"].items())]
    for table in ("socket", "sysctl"):
        if tables[table]:
            lines.append(f"{table} = {{ " + ", ".join(f'"{k}" = {toml(v)}' for k, v in tables[table].items()) + " }")
    lines += ["[[host]]", 'name = "server"', 'sysctl = { "net.ipv4.tcp_fastopen" = 3 }', "[[link]]", *(f"{k} = {toml(v)}" for k, v in tables["link"].items())]
    if tables["way"]:
        lines.append("a_to_b = { " + ", ".join(f"{k} = {toml(v)}" for k, v in tables["way"].items()) + " }")
    lines += ["[[app]]", *(f"{k} = {toml(v)}" for k, v in tables["app"].items())]
    return "\n".join(lines) + "\n", put


def run(binary, file, stack):
    """(answered, what was said)."""
    try:
        done = subprocess.run([binary, "run", "--json", "--on", stack, file], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "no answer within 120 s"
    said = done.stderr.strip()
    if done.returncode not in (0, 1, 4):
        return False, said
    try:
        points = json.loads(done.stdout)["points"]
    except (json.JSONDecodeError, KeyError):
        return False, said
    errors = [p["error"] if isinstance(p["error"], str) else json.dumps(p["error"]) for p in points if p.get("error")]
    return (not errors), " / ".join(errors) or said


def excepted(contract, put, stack):
    """What of the file this kind of stack does not honour by its contract, in some setting: the words by which it may be named."""
    kind = stack.split(":")[0]
    rows = {(("app" if k["table"].startswith("app") else k["table"]), k["key"]): k for k in contract["keys"]}
    rows |= {("sysctl", s["sysctl"]): s for s in contract["sysctls"]}
    words = set()
    for at in put:
        row, refused = rows[at], rows[at].get("refused") or []
        for r in refused if isinstance(refused, list) else [refused]:
            if kind in r["on"] or ("kernels" in r["on"] and kind != "model"):
                words |= {at[1], r.get("tolerate", at[1])}
        if kind not in row["honoured"] or (kind == "model" and "model_acts_as" in row):
            words.add(at[1])
    return words


def judge(contract, put, answers):
    """The class of a file: both answer, both refuse, or why only one does."""
    if all(a is True for a, _ in answers.values()):
        return "both answer"
    if not any(a for a, _ in answers.values()):
        return "both refuse"
    stack, (_, said) = next((s, a) for s, a in answers.items() if not a[0])
    if any(word in said for word in excepted(contract, put, stack)):
        return f"only {stack} refuses, as its contract says"
    cause = next((why for why, words in CAUSES if re.search(words, said, re.S)), None)
    return f"only {stack} refuses: {cause}" if cause else "unexplained"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("-n", type=int, default=1000, help="files")
    a.add_argument("--stacks", default="model,uml:6.1")
    a.add_argument("--binary", type=Path, default=ROOT / "target/release/tcplab")
    a.add_argument("--jobs", type=int, default=2)
    a.add_argument("--keep", type=Path, help="keep the files in this folder")
    a.add_argument("--all", action="store_true", help="print every file that was refused")
    options = a.parse_args()
    contract = json.loads(subprocess.run([options.binary, "stacks", "--keys", "--json"], capture_output=True, text=True, check=True).stdout)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="campaign-keys-"))
    folder.mkdir(parents=True, exist_ok=True)

    def one(n):
        text, put = experiment(contract, random.Random(f"{options.seed} {n}"))
        file = folder / f"{n:04}.toml"
        file.write_text(text)
        answers = {s: run(options.binary, file, s) for s in options.stacks.split(",")}
        return n, put, judge(contract, put, answers), answers

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(one, range(options.n)))
    classes = collections.Counter(kind for _, _, kind, _ in rows)
    for kind, count in classes.most_common():
        print(f"{count:5}  {kind}")
    for n, put, kind, answers in rows:
        if kind == "unexplained" or (options.all and kind != "both answer"):
            print(f"\n{folder}/{n:04}.toml sets {', '.join(k for _, k in put)}")
            for stack, (ok, said) in answers.items():
                print(f"  {stack}: {'answered' if ok else said[:400]}")
    keys = len({k for _, put, _, _ in rows for k in put})
    print(f"\nseed {options.seed}: {options.n} files, {keys} keys, options and sysctls set; {classes['unexplained']} unexplained")
    return int(classes["unexplained"] * 100 > options.n)


if __name__ == "__main__":
    sys.exit(main())
