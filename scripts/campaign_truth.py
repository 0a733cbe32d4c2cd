#!/usr/bin/env python3
"""The campaign of known truth: draws troubles, lets real kernels have them, and says how often `tcplab analyze` was right.

  campaign_truth.py --seed 1 --each 3             make the captures of a seed (or take those there are) and score them
  campaign_truth.py --seed 1 --each 3 --write     the same, and write docs/findings.md, its JSON and the table of confidences
  campaign_truth.py --foreign DIR --binary OLD --binary NEW     all-clears, findings, not-checked of captures without labels

The captures lie in $XDG_CACHE_HOME/tcplab/truth/SEED; what is there is not made again. docs/campaigns.md says how to read the result.
"""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "truth"))

import apps  # noqa: E402
import ends  # noqa: E402
import foreign  # noqa: E402
import held_out  # noqa: E402
import held_out_2  # noqa: E402
import held_out_3  # noqa: E402
import held_out_4  # noqa: E402
import held_out_5  # noqa: E402
import held_out_6  # noqa: E402
import laboratory  # noqa: E402
import losses  # noqa: E402
import quiet  # noqa: E402
import report  # noqa: E402
import score  # noqa: E402

SEEN = [("quiet", quiet.KINDS), ("apps", apps.KINDS), ("ends", ends.KINDS), ("losses", losses.KINDS), ("once held out", held_out.KINDS + held_out_2.KINDS + held_out_3.KINDS + held_out_4.KINDS + held_out_5.KINDS)]
# Kinds that are known weigh less, so that those held out are about two fifths of the runs.
FAMILIES = [*((name, [(draw, max(1, round(0.7 * weight))) for draw, weight in kinds]) for name, kinds in SEEN), ("held out", held_out_6.KINDS)]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tcplab" / "truth"


def plan(seed, each, only):
    """[(name, family, seed of the run, case)]: `each` runs for each unit of a kind's weight."""
    out = []
    for family, kinds in FAMILIES:
        for place, (draw, weight) in enumerate(kinds):
            for n in range(weight * each):
                number = random.Random(f"{seed} {family} {draw.__name__} {n}").randrange(1, 2**31)
                case = draw(random.Random(number))
                if only in (None, family, case.kind):
                    out.append((f"{case.kind}-{place:02d}{n:03d}", family, number, case))
    return out


def make_all(options, folder):
    """Makes what is missing; returns labels, those of runs that are left out too."""
    (folder / "captures").mkdir(parents=True, exist_ok=True)
    wanted = plan(options.seed, options.each, options.kind)
    if not all((folder / "captures" / f"{x[0]}.json.gz").exists() for x in wanted):
        laboratory.ready()
    began, done = time.monotonic(), itertools.count(1)

    def one(item):
        name, family, number, case = item
        some, why = laboratory.label(case, laboratory.make(case, folder / "captures" / name, number, options.binary[0]))
        if (n := next(done)) % 100 == 0:
            print(f"{n} of {len(wanted)} runs, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        return {"name": name, "kind": case.kind, "family": family, "seed": number, "kernel": case.kernel, "sender": case.sender, "params": case.params,
                "scenario": case.toml or case.lines, "left_out": why, **(some or {})}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        labels = list(pool.map(one, wanted))
    (folder / "index.jsonl").write_text("".join(json.dumps(x) + "\n" for x in labels))
    return labels


def arguments():
    a = argparse.ArgumentParser(description="precision, recall and confidence of `tcplab analyze` on captures with a known truth")
    a.add_argument("--seed", type=int, default=1, help="which troubles are drawn (1)")
    a.add_argument("--each", type=int, default=3, help="runs for each unit of a kind's weight; three captures each (3)")
    a.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs and analyses at once (the processors)")
    a.add_argument("--binary", action="append", help="the tcplab to score; twice with --foreign: before and after")
    a.add_argument("--kind", help="only this kind or family")
    a.add_argument("--cuts", default=",".join(score.CUTS), help="how captures are cut, separated by commas")
    a.add_argument("--misses", type=int, default=4, help="captures to name for each id and kind of error (4)")
    a.add_argument("--out", type=Path, help="folder of the results (the seed's)")
    a.add_argument("--write", action="store_true", help="write the section Measured of docs/findings.md")
    a.add_argument("--measured", type=Path, help="write the shares of right findings into this measured.rs")
    a.add_argument("--foreign", type=Path, help="a folder of captures without labels")
    a.add_argument("--sample", type=int, default=0, help="with --foreign: print so many findings, drawn by --seed, for a look by hand")
    options = a.parse_args()
    root = HERE.parent
    options.binary = [Path(x).resolve() for x in options.binary or [Path(os.environ.get("CARGO_TARGET_DIR") or root / "target") / "release" / "tcplab"]]
    os.environ.setdefault("TCPLAB", str(options.binary[0]))
    return options


def main():
    options = arguments()
    if options.foreign and options.sample:
        return foreign.sample(options.foreign, options.binary[-1], options.sample, options.seed, options.jobs)
    if options.foreign:
        return foreign.compare(options.foreign, options.binary, options.jobs)
    folder = CACHE / str(options.seed)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    runs = make_all(options, folder)
    made = time.monotonic()
    labels = [x for x in runs if not x["left_out"]]
    result = score.score(labels, folder / "captures", options.binary[0], options.cuts.split(","), options.jobs)
    result.update(seed=options.seed, each=options.each, runs=len(labels), runs_left_out=len(runs) - len(labels), seconds={"make": round(made - began), "analyse": round(time.monotonic() - made)},
                  left_out=collections.Counter(f"{x['kind']}: {x['left_out']}" for x in runs if x["left_out"]))
    out = options.out or folder
    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(json.dumps(result, indent=1, sort_keys=True) + "\n")
    print(report.terminal(result, options.misses))
    if options.write:
        report.write(HERE.parent / "docs" / "findings.md", result)
    if options.measured:
        report.measured(options.measured, result)


if __name__ == "__main__":
    main()
