#!/usr/bin/env python3
"""Makes the labelled corpus: captures that real kernels sent, with the causes that were really there.

    corpus.py [--out DIR] [--each N] [--real N] [--family NAME] [--jobs N] [--seed N]

For each family of families.py and families_loss.py it draws N scenarios, runs each on a kernel in virtual time and
writes DIR/FAMILY/NAME.POINT.pcap with a label NAME.POINT.json beside it; `--real` as many again on kernels in real time
(this machine's, Debian's 5.10 and 6.1). DIR/index.jsonl holds all labels, one a line; DIR/table.md counts them.
A run that did not do what it was meant to do (the kernels' counters say so) is left out and counted.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import struct
import threading
from pathlib import Path

import families as f
import families_loss as g
import families_more as m
import labrun

FAMILIES = {  # with weights
    f.quickack: 6, f.quickack_fixed: 3, f.quickack_not: 4, f.delack_policy: 2, f.reader_sleeps: 1, f.wwr: 5,
    f.wwr_cured: 4, f.response_in_two: 3, f.cwnd_held: 5, f.path_change: 3, f.wild_jitter: 2, f.app_pause: 3,
    m.cut_short: 2, f.request_response: 5, g.bulk_clean: 4, g.bulk_random_loss: 3, g.bulk_overflow: 3,
    g.middle_loss: 3, g.tail_loss: 6, g.bulk_tail_loss: 3, g.outage: 4, g.lone_request_lost: 3, g.delay_spike: 8,
    g.reordering: 5, g.duplicated: 2, g.ack_loss: 2, g.marked: 1, g.syn_lost: 3, g.syn_unanswered: 1, g.refused: 1,
    g.zero_window: 4, g.steady_reader: 2, g.mtu_black_hole: 3, g.dead_path: 3, m.super_segments: 3, m.spoiled: 5,
    m.keepalive: 1, m.slow_sender: 4, m.many: 2, m.duplex: 1, m.aborted: 1, m.both: 1,
}
LATEST_US = 15000  # the tick of Debian's guests is 10 ms
REAL = ["host", "host", "debian-6.1", "debian-5.10"]


# ---- capture files ------------------------------------------------------------------------------------------------

def read_pcap(path):
    """Header and records (header, bytes) of a classic pcap as the laboratory writes it."""
    data = path.read_bytes()
    records, at = [], 24
    while at + 16 <= len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        records.append((data[at:at + 16], data[at + 16:at + 16 + n]))
        at += 16 + n
    return data[:24], records


def write_pcap(path, head, records):
    path.write_bytes(head + b"".join(h + d for h, d in records))


def from_client(frame):
    """Whether the client sent this frame: the hosts' hardware addresses end in 1 and 2."""
    return frame[11] == 1


def payload(header):
    """Whether the frame is longer than headers alone can be (options and IPv6 counted in)."""
    return struct.unpack_from("<I", header, 12)[0] > 14 + 40 + 60


def spoil(path, how, rng, sender, point):
    """Takes away what a bad capture lacks. Returns the artefact, or None when this capture does not show one."""
    if how in ("super", "super-both"):
        return "super-segments" if how == "super-both" or point == sender else None
    head, records = read_pcap(path)
    if how == "one-direction":
        keep = rng.choice([True, False])
        records = [r for r in records if from_client(r[1]) == keep]
    elif how == "lost-by-capture":
        share = rng.choice([0.02, 0.05, 0.1])
        lost = {i for i in range(6, len(records)) if rng.random() < share}
        if not any(payload(records[i][0]) for i in lost):
            return None
        records = [r for i, r in enumerate(records) if i not in lost]
    elif how == "doubled-by-capture":
        records = [r for r in records for _ in (0, 1)]
    elif how == "headers-cut":  # no TCP options kept
        records = [(h[:8] + struct.pack("<I", min(54, len(d))) + h[12:], d[:54]) for h, d in records]
    elif how == "no-beginning":
        records = records[rng.randint(4, max(5, len(records) // 3)):]
    write_pcap(path, head, records)
    return how


# ---- labels -------------------------------------------------------------------------------------------------------

def label_for(case, found, raw, point, artefact):
    """The truth as this capture point can see it."""
    causes, allowed, one_of = set(found["causes"]), set(found["allowed"]), list(found["one_of"])
    lost_before = any(h[2] == "drop" for h in raw["happenings"]) and point != case.sender
    if point == "mid" and not any(h[2] == "drop" and h[1] != f.toward(case.sender) for h in raw["happenings"]):
        lost_before = lost_before and not all(" after" in r for r in case.scenario if r.endswith("drop") or " drop " in r)
    if lost_before:  # what was lost on the way is not in a capture behind the loss
        hidden = causes & f.STALL_IDS
        causes -= hidden
        allowed |= hidden
        allowed |= {i for x in one_of for i in x}
        one_of = []
    seen = f.Seen(raw, case.sender)
    if case.params.get("workload") == "bulk" or case.family == "tail-loss":  # a window of one or two segments can wait for a delayed ACK
        if seen.r("DelayedACKs") >= (1 if seen.timeouts else 3):
            allowed.add("delack_request_response")
    if case.family == "slow-sender" and seen.r("DelayedACKs") and f"{case.sender}_nodelay=0" in case.scenario:
        allowed |= {"delack_nagle", "delack_request_response"}
    if point != case.sender:
        hidden = causes & set(found["only_at_sender"])
        causes -= hidden
        allowed |= hidden | set(found["allowed_behind"])
        if found["only_at_sender"]:
            allowed |= {i for x in one_of for i in x}
            one_of = []
    if found.get("not_at_receiver") and point == seen.receiver:
        allowed -= {"quickack_exhausted"}
    if found.get("server_blind") and point != "a":
        allowed |= causes & {"syn_retries"}
        causes -= {"syn_retries"}
    if old_kernel(case, raw) and case.family != "quickack-not" and max(raw["counters"][h].get("TcpExtDelayedACKs", 0) for h in "ab") >= 3:
        allowed.add("quickack_exhausted")  # true by its mechanism, though nobody may have waited
    if artefact in ("no-beginning", "headers-cut"):
        allowed.add("capture_artefacts")
    elif artefact:
        causes.add("capture_artefacts")
        if artefact in ("one-direction", "lost-by-capture", "doubled-by-capture"):
            allowed |= causes - {"capture_artefacts"}
            causes = {"capture_artefacts"}
    return sorted(causes), sorted(allowed - causes), one_of


def old_kernel(case, raw):
    return case.kernel.endswith("-old") or raw["kernel"].startswith("5.10.")


def make(case, name, out, seed):
    """Runs one case; returns its labels (none when the run was not what it was meant to be) and why."""
    folder = out / case.family
    prefix = folder / name
    labels = []
    rng = random.Random(seed)
    try:
        # All headers and options: up to 94 bytes with IPv4, 114 with IPv6.
        snap = 128 if "ipv6=1" in case.scenario else rng.choice([96, 96, 128])
        extra = [f"points={','.join(case.points)}", f"snap={snap}", f"stamp={rng.choice(['ns', 'us'])}"]
        raw = labrun.run(case.kernel, [*case.scenario, *extra], prefix, seed=seed)
    except Exception as e:  # a guest that did not boot or hung: counted, not fatal
        return [], f"failed: {str(e)[:300]}"
    found = case.truth(f.Seen(raw, case.sender))
    late = raw["most_late_us"] > LATEST_US  # what a starved machine delays looks like a timer of the kernel
    if found is None or late:
        for p in case.points:
            Path(f"{prefix}.{p}.pcap").unlink()
        return [], "machine too busy" if late else "not as meant"
    for p in case.points:
        pcap = Path(f"{prefix}.{p}.pcap")
        artefact = spoil(pcap, case.post, rng, case.sender, p) if case.post else None
        causes, allowed, one_of = label_for(case, found, raw, p, artefact)
        label = {
            "file": str(pcap.relative_to(out)), "family": case.family, "causes": causes, "allowed": allowed, "one_of": one_of,
            "kernel": case.kernel, "release": {h: raw["kernel"] for h in "ab"}, "before_6_1_57": old_kernel(case, raw),
            "hz": labrun.hz_of(case.kernel), "captured_at": p, "data_sender": case.sender, "vantage": {"mid": "middle", case.sender: "sender"}.get(p, "receiver"), "artefact": artefact,
            "pair": [f"{case.family}/{name}.{q}.pcap" for q in case.points if q != p], "seed": seed, "params": case.params,
            "seconds": raw["seconds"], "scenario": case.scenario, "counters": raw["counters"], "connections": raw["connections"][:3], "link": raw["happenings"][:60], "link_events": len(raw["happenings"]),
        }
        pcap.with_suffix(".json").write_text(json.dumps(label, indent=1) + "\n")
        labels.append(label)
    return labels, ""


# ---- the whole ----------------------------------------------------------------------------------------------------

def plan(options):
    """(family, number, case): the virtual-time ones first, then those in real time."""
    cases = []
    for real in (False, True):
        for family, weight in FAMILIES.items():
            count = (options.real if real else options.each) * weight
            for number in range(count):
                rng = random.Random(f"{options.seed} {family.__name__} {real} {number}")
                case = family(rng)
                if real:
                    kernels = REAL
                    if case.kernel.endswith("-old"):
                        kernels = ["debian-5.10"]
                    elif case.family == "quickack-fixed":
                        kernels = ["host", "debian-6.1"]
                    case.kernel = rng.choice(kernels)
                    if case.kernel.startswith("debian") and "ipv6=1" in case.scenario:
                        case.scenario.remove("ipv6=1")  # a module there
                        case.params.pop("ipv6", None)
                if len(case.points) == 2 and not case.post and rng.random() < 0.25:  # between the hosts too, before or behind the losses
                    case.points += ("mid",)
                    if rng.random() < 0.5:
                        case.scenario = [x[:-4] + "after drop" if x.startswith("rule=") and x.endswith("drop") else x for x in case.scenario]
                cases.append((number, case))
    if options.family:
        cases = [c for c in cases if c[1].family == options.family]
    return cases


def table(labels):
    families = collections.Counter(x["family"] for x in labels)
    causes = collections.Counter(c for x in labels for c in x["causes"])
    kernels = collections.Counter(x["kernel"] for x in labels)
    text = f"{len(labels)} captures, {sum(1 for x in labels if not x['causes'] and not x['one_of'])} of them with no cause that must be found.\n"
    for title, count in (("family", families), ("cause", causes), ("kernel", kernels)):
        text += f"\n| {title} | captures |\n|---|---|\n" + "".join(f"| {k} | {n} |\n" for k, n in sorted(count.items()))
    return text


def main():
    a = argparse.ArgumentParser(description="makes the labelled corpus")
    a.add_argument("--out", type=Path, default=labrun.CACHE / "corpus")
    a.add_argument("--each", type=int, default=3, help="scenarios for each unit of a family's weight, in virtual time")
    a.add_argument("--real", type=int, default=0, help="the same on kernels in real time")
    a.add_argument("--family")
    a.add_argument("--jobs", type=int, default=os.cpu_count())
    a.add_argument("--seed", type=int, default=1)
    options = a.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    labrun.build_lab()
    lock, left_out = threading.Lock(), collections.Counter()
    index = options.out / "index.jsonl"
    labels = [json.loads(line) for line in index.read_text().splitlines()] if index.exists() else []
    have = {x["file"].rsplit(".", 2)[0] for x in labels}

    def one(item):
        number, case = item
        kind = "real" if case.kernel in REAL else "virtual"
        name = f"{case.family}-{kind}-{options.seed}-{number:03d}"
        if f"{case.family}/{name}" in have:
            return
        new, why = make(case, name, options.out, options.seed * 100000 + number)
        with lock:
            labels.extend(new)
            if why:
                left_out[f"{case.family}: {why}"] += 1
            with index.open("a") as out:
                out.writelines(json.dumps(x) + "\n" for x in new)

    cases = plan(options)
    for kind in (True, False):  # real-time runs mostly sleep: more of them at once
        some = [c for c in cases if (c[1].kernel in REAL) != kind]
        with concurrent.futures.ThreadPoolExecutor(options.jobs if kind else options.jobs * 3) as pool:
            for done in pool.map(one, some):
                del done
        (options.out / "table.md").write_text(table(labels))
    labrun.say(table(labels))
    for why, n in sorted(left_out.items()):
        labrun.say(f"left out: {n} x {why}")


if __name__ == "__main__":
    main()
