"""Runs the analyser over captures, whole and cut, and counts right, false and missed findings, confidence and budget."""

import collections
import concurrent.futures
import json
import random
import subprocess
import tempfile
from pathlib import Path

from case import POINTS
from cuts import CUTS, cut, first_time
from ids import CLASSES, IDLE, UNKNOWN, accepted, budget, not_checked

BATCH = 40
# What only a handshake shows, and what only a connection's beginning does.
HANDSHAKE = {"syn_retries", "refused", "option_removed", "accept_queue", "window_scaling"}
BEGINNING = {"slow_start"}


def analyse(binary, files):
    """The answers to so many files, in their order; a file without one gives None."""
    done = subprocess.run([binary, "analyze", "--json", *files], capture_output=True, text=True, timeout=600)
    try:
        captures = json.loads(done.stdout)["captures"]
    except (json.JSONDecodeError, KeyError):
        captures = []
    if len(captures) == len(files):
        return captures
    return [None] if len(files) == 1 else [x for f in files for x in analyse(binary, [f])]


def wanted(label, point):
    """What must be found at a capture point, each with the ids that answer it (its own first), and the ids that may be said."""
    t = label["truth"]
    groups = [(name, accepted(name)) for name, at in t["causes"].items() if point in at]
    groups += [("/".join(names), tuple(i for n in names for i in accepted(n))) for names, at in t["one_of"] if point in at]
    may = {i for name in [*t["causes"], *t["allowed"], *(n for names, _ in t["one_of"] for n in names)] for i in accepted(name)}
    return groups, may


def gone(label, name, how, begin):
    """Whether a cut took a cause away: it lies before the first packet that is left."""
    names = set(name.split("/"))
    if how not in ("no-handshake", "late"):
        return False
    if names & HANDSHAKE or how == "late" and names & BEGINNING:
        return True
    events = label.get("events") or []
    return bool(events) and sum(t > begin for t in events) < max(1, len(events) / 2)


def judge(label, point, how, capture, begin):
    """One row: what was right, false, missed, not checked; confidences; the budget. `begin`: when the capture begins."""
    groups, may = wanted(label, point)
    row = {"name": label["name"], "kind": label["kind"], "family": label["family"], "point": point, "cut": how, "right": [], "false": [], "missed": [], "not_checked": [],
           "gone": [], "allowed": [], "confidence": [], "not_checked_any": False, "broken": capture is None, "streams": 0}
    if capture is None:
        return row
    best = {}
    for x in capture["findings"]:
        best[x["id"]] = max(best.get(x["id"], 0.0), x.get("confidence") or 0.0)
    if how != "whole":  # that a capture was cut is true
        may |= set(accepted("artefacts"))
    blind = not_checked(capture)
    row["not_checked_any"] = bool(blind)
    answered = set()
    for name, ids in groups:
        hit = [i for i in ids if i in best]
        if hit:
            row["right"].append([name, hit[0]])
            answered |= set(hit)
        elif gone(label, name, how, begin):
            row["gone"].append([name, ids[0]])
        elif how != "whole" and set(ids) & blind:
            row["not_checked"].append([name, ids[0]])
        else:
            row["missed"].append([name, ids[0]])
    row["false"] = sorted(set(best) - answered - may)
    row["allowed"] = sorted((set(best) & may) - answered)
    known = [x for x in capture["findings"] if x.get("confidence") is not None]
    made = {x["id"] for x in known}
    row["confidence"] = [[i, best[i], 1] for i in sorted(answered & made)] + [[i, best[i], 0] for i in row["false"] if i in made]
    row["silent"] = not best
    streams = capture["streams"]
    row["streams"] = len(streams)
    if how == "whole" and point != "m" and any(x.get("budget_us") for x in streams):
        spent = collections.Counter()
        for s in streams:
            spent.update(budget(s))
        row["budget"] = {k: round(v, 6) for k, v in spent.items()}
        row["budget_none"] = {c: row["budget"].get(c, 0.0) for c in label["truth"].get("none", [])}
        row["budget_truth"] = {k.partition("@")[0]: v for k, v in label["truth"]["budget"].items() if point in (k.partition("@")[2] or POINTS)}
    return row


def file_of(folder, label, point):
    return next(iter(folder.glob(f"{label['name']}.{point}.pcap*")), None)


def rows_of(labels, folder, binary, cuts):
    """The rows of so many runs."""
    out = []
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="truth-") as tmp:
        todo = []
        for label in labels:
            for point in POINTS:
                path = file_of(folder, label, point)
                if path is None:
                    continue
                data = path.read_bytes()
                for how in cuts:
                    if how == "whole":
                        todo.append((label, point, how, path, 0.0))
                        continue
                    some = cut(data, how, random.Random(f"{label['name']} {point} {how}"))
                    if some:
                        place = Path(tmp) / f"{len(todo)}.pcap"
                        place.write_bytes(some)
                        todo.append((label, point, how, place, first_time(some)))
        for at in range(0, len(todo), BATCH):
            part = todo[at:at + BATCH]
            out += [judge(x[0], x[1], x[2], capture, x[4]) for x, capture in zip(part, analyse(binary, [x[3] for x in part]))]
    return out


def table(rows):
    """For each id: right, false, missed, precision, recall."""
    right, false, missed, blind = (collections.Counter() for _ in range(4))
    for r in rows:
        right.update(i for _, i in r["right"])
        missed.update(i for _, i in r["missed"])
        blind.update(i for _, i in r["not_checked"])
        false.update(r["false"])
    return {i: {"right": right[i], "false": false[i], "missed": missed[i], "not_checked": blind[i],
                "precision": right[i] / (right[i] + false[i]) if right[i] + false[i] else None,
                "recall": right[i] / (right[i] + missed[i]) if right[i] + missed[i] else None} for i in sorted({*right, *false, *missed, *blind})}


def calibration(rows):
    """Reliability by tenths of confidence, and Brier scores: the analyser's, and that of the constant share of right ones."""
    said = [(c, ok) for r in rows for _, c, ok in r["confidence"]]
    if not said:
        return {"findings": 0}
    base = sum(ok for _, ok in said) / len(said)
    edges = [0.0, 0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 1.01]
    bins = []
    for low, high in zip(edges, edges[1:]):
        some = [(c, ok) for c, ok in said if low <= c < high]
        if some:
            bins.append({"from": low, "to": min(high, 1.0), "findings": len(some), "said": sum(c for c, _ in some) / len(some), "right": sum(ok for _, ok in some) / len(some)})
    return {"findings": len(said), "base_rate": base, "brier": sum((c - ok) ** 2 for c, ok in said) / len(said),
            "brier_of_base_rate": sum((base - ok) ** 2 for _, ok in said) / len(said), "bins": bins}


def budget_table(rows):
    """For each class the seconds that the truth has and how many of them the analyser gave to it; and the unknown share."""
    truth, found, runs, low = (collections.Counter() for _ in range(4))
    absent, wrong, where = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    total = unknown = idle = 0.0
    short = collections.defaultdict(list)
    for r in rows:
        if "budget" not in r:
            continue
        total += sum(r["budget"].values())
        unknown += r["budget"].get(UNKNOWN, 0.0)
        idle += r["budget"].get(IDLE, 0.0)
        for name, seconds in r["budget_none"].items():
            absent[name] += sum(r["budget"].values()) - r["budget"].get(IDLE, 0.0)
            wrong[name] += seconds
            if seconds > 0.02:
                where[name].append(f"{r['name']}.{r['point']} {seconds:.3f} s")
        for name, seconds in r["budget_truth"].items():
            if seconds < 0.001:
                continue
            got = min(seconds, sum(r["budget"].get(c, 0.0) for c in CLASSES[name]))
            truth[name] += seconds
            found[name] += got
            runs[name] += 1
            if got < 0.9 * seconds:
                low[name] += 1
                short[name].append(f"{r['name']}.{r['point']} {got:.3f} of {seconds:.3f} s")
    return {"total_s": total, "unknown_s": unknown, "idle_s": idle, "unknown_share": unknown / (total - idle) if total > idle else None,
            "absent": {n: {"seconds": absent[n], "given_s": wrong[n], "captures": len(where[n]), "examples": where[n][:8]} for n in sorted(absent)},
            "classes": {n: {"captures": runs[n], "truth_s": truth[n], "recall": found[n] / truth[n], "captures_below_0.9": low[n], "examples": short[n][:8]} for n in sorted(truth)}}


def by_cut(rows):
    """Cause x cut: found, said not checked, missed."""
    out = {}
    for r in rows:
        for what in ("right", "not_checked", "missed", "gone"):
            for name, _ in r[what]:
                out.setdefault(name, {}).setdefault(r["cut"], collections.Counter())[what] += 1
    return out


def errors(rows, what):
    out = {}
    for r in rows:
        for x in r[what]:
            out.setdefault(x if isinstance(x, str) else x[1], []).append(f"{r['name']}.{r['point']}" + ("" if r["cut"] == "whole" else f" {r['cut']}"))
    return out


def score(labels, folder, binary, cuts, jobs):
    parts = [labels[i:i + 20] for i in range(0, len(labels), 20)]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda x: rows_of(x, folder, binary, cuts), parts):
            rows += part
    whole, other = [r for r in rows if r["cut"] == "whole"], [r for r in rows if r["cut"] != "whole"]
    ours, held = [r for r in whole if r["family"] != "held out"], [r for r in whole if r["family"] == "held out"]
    quiet = [r for r in whole if r["family"] == "quiet"]
    return {"binary": binary.name, "captures": len(whole), "cut_captures": len(other), "broken": [f"{r['name']}.{r['point']} {r['cut']}" for r in rows if r["broken"]],
            "whole": table(whole), "kinds_shown": table(ours), "kinds_held_out": table(held), "cut": table(other), "by_cut": by_cut(rows),
            "by_kind": {k: table([r for r in whole if r["kind"] == k]) for k in sorted({r["kind"] for r in whole})},
            "by_point": {p: table([r for r in whole if r["point"] == p]) for p in POINTS},
            "quiet": {"captures": len(quiet), "with_false": sum(bool(r["false"]) for r in quiet), "all_clear": sum(bool(r.get("silent")) and not r["not_checked_any"] for r in quiet)},
            "cut_all_clear_with_a_cause": sum(bool(r["missed"] or r["not_checked"]) and bool(r.get("silent")) and not r["not_checked_any"] for r in other),
            "confidence": calibration(whole), "confidence_cut": calibration(other), "budget": budget_table(whole),
            "missed": errors(whole, "missed"), "false": errors(whole, "false"), "missed_cut": errors(other, "missed"), "false_cut": errors(other, "false")}
