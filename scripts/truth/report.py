"""The result as text for a terminal, as the section of docs/findings.md, and as the table of confidences."""

import datetime
import re
from pathlib import Path

from ids import ACCEPT

BEGIN, END = "<!-- measured: written by scripts/campaign_truth.py -->", "<!-- end of measured -->"


def ratio(x):
    return "" if x is None else f"{x:.4f}"


def ids_table(table, blind=False, whole=True):
    """A row for each id; without `whole` those that never erred are one sentence."""
    without = {} if whole else {i: t for i, t in table.items() if not t["false"] and not t["missed"] and t["right"]}
    out = ["| id | right | false | missed |" + (" not checked |" if blind else "") + " precision | recall |", "|---|---|---|---|" + ("---|" if blind else "") + "---|---|"]
    for i, t in table.items():
        if i not in without:
            out.append(f"| `{i}` | {t['right']} | {t['false']} | {t['missed']} |" + (f" {t['not_checked']} |" if blind else "") + f" {ratio(t['precision'])} | {ratio(t['recall'])} |")
    if without:
        what = "right findings/not checked" if blind else "right findings"
        rest = ", ".join(f"`{i}` {t['right']}" + (f"/{t['not_checked']}" if blind else "") for i, t in without.items())
        out += ["", f"Never wrong, never missed ({what}): {rest}."]
    return out


def cut_table(by_cut, whole=True):
    """A row for each cause; without `whole` those that no cut made tcplab miss are one sentence."""
    cuts = [c for c in ("whole", "no-handshake", "late", "snap60", "one-direction", "every-10th") if any(c in x for x in by_cut.values())]
    out = ["| cause | " + " | ".join(cuts) + " |", "|---|" + "---|" * len(cuts)]
    never = []
    for name, x in sorted(by_cut.items()):
        words = " or ".join(dict.fromkeys(f"`{ACCEPT[n][0]}`" for n in name.split("/")))
        if not whole and not any(x.get(c, {}).get("missed", 0) for c in cuts):
            never.append(words)
            continue
        out.append(f"| {words} | " + " | ".join("/".join(str(x.get(c, {}).get(w, 0)) for w in ("right", "not_checked", "missed", "gone")) for c in cuts) + " |")
    return [*out, "", f"In no cut did tcplab miss the other {len(never)} causes (a cause named as not checked is not missed)."] if never else out


def brier(c):
    return f"Brier score {c['brier']:.5f}; a constant confidence of {c['base_rate']:.4f} (the share of right findings) has {c['brier_of_base_rate']:.5f}."


def confidence_lines(c, whole=True):
    if not c["findings"]:
        return ["No finding stated a confidence."]
    if not whole:
        return [brier(c)]
    out = ["| confidence stated | findings | mean stated | right |", "|---|---|---|---|"]
    out += [f"| {b['from']:.2f} to {b['to']:.2f} | {b['findings']} | {b['said']:.4f} | {b['right']:.4f} |" for b in c["bins"]]
    return [*out, "", brier(c)]


def budget_lines(b, whole=True):
    if not b["total_s"]:
        return ["No budget."]
    out = ["| class | captures | seconds | recall | captures below 0.9 |", "|---|---|---|---|---|"]
    out += [f"| {n} | {x['captures']} | {x['truth_s']:.1f} | {x['recall']:.4f} | {x['captures_below_0.9']} |" for n, x in b["classes"].items()]
    out += ["", "Time that the budget gave to a class although counters or application steps rule this class out:", "",
            "| class | seconds of the captures that rule it out | given | captures with more than 20 ms |", "|---|---|---|---|"]
    out += [f"| {n} | {x['seconds']:.1f} | {x['given_s']:.3f} | {x['captures']} |" for n, x in b["absent"].items() if whole or x["captures"]]
    if not whole and (none := [n for n, x in b["absent"].items() if not x["captures"]]):
        most = max(b["absent"][n]["given_s"] for n in none)
        out += ["", f"The other classes ({', '.join(none)}) have no capture with more than 20 ms. All captures together wrongly gave each of these classes at most {most:.3f} s."]
    return [*out, "", f"The class `unknown` has {b['unknown_share']:.2%} of the {b['total_s'] - b['idle_s']:.0f} s that were not idle."]


def short_of_aim(table, where):
    """What misses the aims: precision 0.97, recall 0.9."""
    low = [f"`{i}` ({t['precision']:.3f})" for i, t in table.items() if t["precision"] is not None and t["precision"] < 0.97]
    few = [f"`{i}` ({t['recall']:.3f})" for i, t in table.items() if t["recall"] is not None and t["recall"] < 0.9]
    return [f"Ids below the aims {where}: precision below 0.97: {', '.join(low) or 'none'}; recall below 0.9: {', '.join(few) or 'none'}."]


def body(r, whole=True):
    """The result; the document has it without `whole`: what never erred in one sentence."""
    q = r["quiet"]
    return [
        f"{r['captures']} captures of {r['runs']} runs ({r['runs_left_out']} runs did not do what they were meant to do and are left out), seed {r['seed']}, "
        f"{datetime.date.today().isoformat()}, `make campaign-truth SEED={r['seed']} EACH={r['each']}`.", "",
        "Whole captures, at the client, at the server and in between:", "", *ids_table(r["whole"], whole=whole), "", *short_of_aim(r["whole"], "on whole captures"), "",
        f"Healthy captures: {q['captures']}. {q['with_false']} have a false finding, {q['all_clear']} have an all-clear.", "",
        "Whole captures with types of trouble that the detectors were not written against:", "", *ids_table(r["kinds_held_out"], whole=whole), "",
        f"Cut captures ({r['cut_captures']}; causes before the first remaining packet do not count):", "", *ids_table(r["cut"], blind=True, whole=whole), "",
        "For each cause and cut, the captures in which tcplab found it/named it as not checked/missed it/could not see it (before the first remaining packet):", "", *cut_table(r["by_cut"], whole), "",
        f"Cut captures with a wrong all-clear (the cause had to be found or named as not checked): {r['cut_all_clear_with_a_cause']}.", "",
        "Confidence, whole captures (stated by the table of the campaign before this one):", "", *confidence_lines(r["confidence"], whole), "",
        "Confidence, cut captures:", "", *confidence_lines(r["confidence_cut"], whole), "",
        "Time budget of whole captures taken at the ends. The seconds are those that the applications' times, the link's record or the kernel's clocks determine:", "", *budget_lines(r["budget"], whole)]


def terminal(r, misses):
    out = [*body(r), "", f"Broken: {len(r['broken'])} {r['broken'][:5]}"]
    for what in ("false", "missed", "false_cut"):
        for i, names in sorted(r[what].items()):
            out.append(f"{what} {i} ({len(names)}): {', '.join(names[:misses])}")
    out += [f"budget {n}: {', '.join(x['examples'][:misses])}" for n, x in r["budget"]["classes"].items() if x["examples"]]
    out += [f"budget {n}, ruled out: {', '.join(x['examples'][:misses])}" for n, x in r["budget"].get("absent", {}).items() if x["examples"]]
    out += [f"left out: {n} x {why}" for why, n in sorted(r["left_out"].items())]
    return "\n".join(out)


def write(path, r):
    """Puts the section between its markers; at the end of the document when there are none yet."""
    text, section = Path(path).read_text(), "\n".join([BEGIN, *body(r, whole=False), END])
    if BEGIN in text:
        text = text[:text.index(BEGIN)] + section + text[text.index(END) + len(END):]
    else:
        text = text.rstrip() + "\n\n## Measured\n" + section + "\n"
    Path(path).write_text(text)


def measured(path, r):
    """Writes the rows of the const MEASURED: name, right, made, on whole and on cut captures; rows of ids that were not met stay."""
    text = Path(path).read_text()
    begin = re.search(r"const MEASURED: [^=]*= &\[\n", text).end()
    end = text.index("];", begin)
    rows = {m[1]: m[0] for m in re.finditer(r'    \("(\w+)", \d+, \d+\),\n', text[begin:end])}
    for i in sorted({*r["whole"], *r["cut"]}):
        some = [t[i] for t in (r["whole"], r["cut"]) if i in t]
        right, false = (sum(t[what] for t in some) for what in ("right", "false"))
        if right + false:
            rows[i] = f'    ("{i}", {right}, {right + false}),\n'
    Path(path).write_text(text[:begin] + "".join(rows.values()) + text[end:])
