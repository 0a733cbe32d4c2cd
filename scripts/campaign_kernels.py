#!/usr/bin/env python3
"""Each release of Linux against the model's profile of it, and the releases against each other: `make campaign-kernels`.

For each release the same on its kernel (`uml:R@HZ`, from `tcplab kernel build R`) and on `model:linux-R@HZ`: the list of
`tcplab diff`, drawn scenarios, the project's packetdrill scripts, the selftests of that kernel's own source, and the public
suite (--suite FOLDER, a clone of google/packetdrill's gtests/net/tcp). Then the list and the drawn scenarios on each two
neighbouring kernels. The tables go into docs/releases.md.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TCPLAB = ROOT / "target/release/tcplab"
RELEASES = ["5.10", "6.1", "6.12", "7.2"]
SELFTESTS = "tools/testing/selftests/net/packetdrill"
BEGIN, END = "<!-- kernels: begin -->", "<!-- kernels: end -->"


def said(*args):
    """A command's JSON document."""
    print("  tcplab", *args, file=sys.stderr, flush=True)
    run = subprocess.run([TCPLAB, *args, "--json"], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError:
        sys.exit(f"tcplab {' '.join(map(str, args))}: exit code {run.returncode}, no JSON")


def compared(kernel, other, *more):
    """What `tcplab diff` found: (document, how many are equal)."""
    document = said("diff", kernel, other, *more)
    return document, sum(row["equal"] for row in document["scenarios"])


def cell(document, equal):
    """`559 of 564, 99.1 %`"""
    all_ = len(document["scenarios"])
    return f"{equal} of {all_}, {100 * equal / all_:.1f} %"


def verdicts(stack, *more):
    """The verdict of each case."""
    results = said("drill", "--on", stack, *more)["results"]
    return {(r["script"], r["mode"]): r["verdict"] for r in results}


def scripts(kernel, model, *more):
    """Passed on the kernel, on the model; of the cases that the kernel passes, those that the model fails or skips."""
    on_kernel, on_model = verdicts(kernel, *more), verdicts(model, *more)
    count = lambda of, verdict: sum(v == verdict for v in of.values())
    passes = [case for case, verdict in on_kernel.items() if verdict == "pass"]
    lost = [case for case in passes if on_model.get(case) == "fail"]
    skipped = [case for case in passes if on_model.get(case) == "skip"]
    text = f"{count(on_kernel, 'pass')} / {count(on_model, 'pass')} of {len(on_kernel)}"
    if skipped:
        text += f" ({len(skipped)} skipped by the model)"
    return text, sorted({script for script, _ in lost})


def selftests(release, store, place):
    """The release's own scripts, from its source package in the store of kernels; None if it has none."""
    for archive in sorted(store.glob(f"packages/linux-source-{release}_*/usr/src/*.tar.xz")):
        inside = f"linux-source-{release}/{SELFTESTS}"
        subprocess.run(["tar", "-xJf", archive, "-C", place, inside], stderr=subprocess.DEVNULL)
        folder = Path(place) / inside
        if any(folder.glob("*.pkt")):
            return folder
    return None


def release_row(release, args, notes, place):
    """A row of the table, and what differs."""
    kernel, model = f"uml:{release}@{args.hz}", f"model:linux-{release}@{args.hz}"
    listed, listed_equal = compared(kernel, model)
    drawn = ["--random", str(args.drawn), "--seed", str(args.seed)]
    random, random_equal = compared(kernel, model, *drawn)
    cells = [cell(listed, listed_equal), cell(random, random_equal)]
    for name, document in [("list", listed), ("drawn", random)]:
        for kind in document["classes"]:
            if kind["name"] != "equal":
                notes.append((release, name, f"{kind['name']} {kind['scenarios']} (`{kind['such_as']}`)"))
    folders = [ROOT / "tests/pkt", selftests(release, args.store, place), args.suite]
    for place, folder in zip(("own scripts", "selftests", "public suite"), folders):
        if folder is None:
            cells.append("not there" if place == "selftests" else "not run")
            continue
        more = ["--tolerance-us", "14000"] if place == "selftests" else []
        text, lost = scripts(kernel, model, *more, str(folder))
        cells.append(text)
        notes.extend((release, place, f"fails on the model only: `{os.path.relpath(s, folder)}`") for s in lost)
    return "| " + " | ".join([f"{release} ({version(release)})", *cells]) + " |"


def differences(notes):
    """A row for each release and place."""
    rows = {}
    for release, place, text in notes:
        rows.setdefault((release, place), []).append(text)
    return [f"| {release} | {place} | {', '.join(texts)} |" for (release, place), texts in rows.items()]


def version(release):
    """The kernel's full version, as it says itself."""
    lines = subprocess.run([TCPLAB, "kernel", "list"], capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        words = line.split()
        if words and words[0] in (f"uml:{release}", f"uml:{release}@1000"):
            return words[1]
    return "?"


def neighbours(older, newer, args):
    """Two kernels against each other."""
    a, b = f"uml:{older}@{args.hz}", f"uml:{newer}@{args.hz}"
    listed, listed_equal = compared(a, b)
    drawn, drawn_equal = compared(a, b, "--random", str(args.drawn), "--seed", str(args.seed))
    classes = [f"{c['name']} {c['scenarios']}" for c in listed["classes"] if c["name"] != "equal"]
    return f"| `{a}`, `{b}` | {cell(listed, listed_equal)} | {cell(drawn, drawn_equal)} | {', '.join(classes[:6])} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drawn", type=int, default=2000)
    parser.add_argument("--hz", type=int, default=1000)
    parser.add_argument("--suite", type=Path, help="folder of the public suite")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    parser.add_argument("--store", type=Path, default=cache / "tcplab/kernels", help="where `tcplab kernel build` keeps sources")
    parser.add_argument("--releases", nargs="*", default=RELEASES)
    args = parser.parse_args()
    notes, rows = [], []
    with tempfile.TemporaryDirectory() as place:
        for release in args.releases:
            rows.append(release_row(release, args, notes, place))
    pairs = [neighbours(a, b, args) for a, b in zip(args.releases, args.releases[1:])]
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    command = f"make campaign-kernels SEED={args.seed} N={args.drawn}"
    if args.suite:
        command += " ARGS='--suite FOLDER'"
    text = "\n".join([
        f"Made by `{command}` on {datetime.date.today()} at commit {commit}, at {args.hz} Hz. Scripts and suites: cases that pass on the kernel / on the model.",
        "",
        "| release | equal of the list | equal of the drawn | own scripts | selftests of its source | public suite |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "Differences between a kernel and its profile. An entry has a class, its number of scenarios, and one of them in parentheses:",
        "",
        "| release | in | differs |",
        "|---|---|---|",
        *differences(notes),
        "",
        "Kernels compared with each other:",
        "",
        "| kernels | equal of the list | equal of the drawn | most frequent classes of the list |",
        "|---|---|---|---|",
        *pairs,
    ])
    path = ROOT / "docs/releases.md"
    old = path.read_text()
    begin, end = old.index(BEGIN), old.index(END)
    path.write_text(f"{old[:begin]}{BEGIN}\n\n{text}\n\n{old[end:]}")
    print(text)


if __name__ == "__main__":
    main()
