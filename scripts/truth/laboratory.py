"""Makes the captures of a case: by the capture laboratory (scripts/captures/lab), or by `tcplab run`."""

import gzip
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from case import Seen, also

sys.path.append(str(Path(__file__).resolve().parent.parent / "captures"))
import labrun  # noqa: E402

STACKS = {"uml-6.1-hz250": "uml:6.1", "uml-6.1-hz1000": "uml:6.1@1000", "uml-6.1-hz250-old": "uml:6.1+quickack-6.1.56"}


def ready():
    """Builds what the runs need, before there are several at once."""
    labrun.build_lab()
    for kernel in STACKS:
        labrun.binary(kernel)


def by_the_lab(case, prefix, seed):
    """Runs a scenario of the laboratory; the captures are PREFIX.{a,b,m}.pcap."""
    raw = labrun.run(case.kernel, [*case.lines, "points=a,b,mid", "snap=128", *([] if any(x.startswith("steps=") for x in case.lines) else ["steps=1"])], prefix, seed=seed, timeout=120)
    prefix.with_name(prefix.name + ".mid.pcap").rename(prefix.with_name(prefix.name + ".m.pcap"))
    if raw.get("warnings"):
        raise RuntimeError(raw["warnings"][0])
    return raw


def end_of(end):
    """An end of a flow of `tcplab run` in the laboratory's words."""
    info, ns = end["tcp_info"], 1e9
    steps = [["w" if x["what"] == "write" else "r", x["value"], x["time_ns"] / ns, x["time_ns"] / ns] for x in end["log"] if x["what"] in ("write", "read")]
    # An end that the run's linger or max cut off has no error, either.
    return {"opened": -1.0 if end["opened_ns"] is None else end["opened_ns"] / ns, "done": int(end["closed_ns"] is not None), "error": end["error"] or 0,
            "wrote": end["written_bytes"], "got": end["read_bytes"], "began": next((x["time_ns"] / ns for x in end["log"] if x["what"] == "connect"), -1.0),
            "steps": steps, "rtt_us": info.get("tcpi_rtt", 0), "min_rtt_us": info.get("tcpi_min_rtt", 0), "ssthresh": info.get("tcpi_snd_ssthresh", 0),
            "busy_us": info.get("tcpi_busy_time", 0), "rwnd_limited_us": info.get("tcpi_rwnd_limited", 0), "sndbuf_limited_us": info.get("tcpi_sndbuf_limited", 0)}


def by_run(case, prefix, seed, binary):
    """Runs an experiment file with hosts `client`, `mid` (a router) and `server`; the captures are PREFIX.{a,b,m}.pcapng."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="truth-") as tmp:
        (Path(tmp) / "x.toml").write_text(case.toml)
        done = subprocess.run([binary, "run", f"{tmp}/x.toml", "--on", STACKS[case.kernel], "--seed", str(seed), "--jobs", "1", "--json", "--out", f"{tmp}/out"],
                              capture_output=True, text=True, timeout=180)
        document = json.loads(done.stdout)
        if document.get("error") or document["points"][0].get("error"):
            raise RuntimeError(str(document.get("error") or document["points"][0]["error"]))
        point = document["points"][0]
        for host, name in (("client.eth0", "a"), ("server.eth0", "b"), ("mid.eth0", "m")):
            shutil.copyfile(f"{tmp}/out/points/0000/{host}.pcapng", prefix.with_name(f"{prefix.name}.{name}.pcapng"))
    ways = {"ab": way(point["links"], "a_to_b", case.params), "ba": way(point["links"], "b_to_a", case.params)}
    return {"kernel": point["kernel"], "counters": {"a": point["counters"]["client"], "b": point["counters"]["server"]}, **ways,
            "happenings": [[0.0, d, "drop", 0, 0, 0, 0] for d, w in ways.items() for _ in range(min(5000, w["dropped"]))],
            "connections": [{"port": f["client_port"], "a": end_of(f["client"]), "b": end_of(f["server"])} for f in point["flows"]], "latency": [f["client"]["latency_ns"] for f in point["flows"]]}


def way(links, name, params):
    """Both links of one way together."""
    sums = {k: sum(link[name][k] for link in links) for k in ("delivered", "queue_drops", "lost", "frames")}
    queues = [link.get(f"{name}_qdisc") or {} for link in links]
    peak = max(link[name]["peak_pkts"] for link in links)
    sums["qdisc_drops"] = sum(max(0, q.get("drops", 0) - q.get("ack_drops", 0)) for q in queues)
    sums["ack_drops"] = sum(tin.get("ack_drops", 0) for q in queues for tin in q.get("tins", []))
    sums["dropped"] = sums["lost"] + max(sums["queue_drops"], sums["qdisc_drops"])
    sums["longest_wait"] = peak * 1514 * 8 / (params["mbit"] * 1e6) if "mbit" in params and peak > 3 else 0.0
    return sums


def make(case, prefix, seed, binary):
    """Runs a case, unless this very case was run before; what the run said stays beside the captures."""
    kept = prefix.with_name(prefix.name + ".json.gz")
    told = {"scenario": case.toml or case.lines, "kernel": case.kernel, "seed": seed, "post": list(case.post)}
    if kept.exists():
        before = json.loads(gzip.decompress(kept.read_bytes()))
        if before["told"] == told:
            return before["raw"]
    try:
        raw = by_run(case, prefix, seed, binary) if case.toml else by_the_lab(case, prefix, seed)
    except (RuntimeError, subprocess.SubprocessError, KeyError, IndexError, json.JSONDecodeError) as error:
        raw = {"failed": f"no result: {re.sub(r'[0-9a-f/._-]{12,}', '...', str(error))[:150]}"}
    if case.post and "failed" not in raw:
        for path in prefix.parent.glob(prefix.name + ".[abm].pcap"):
            step(path, *case.post[1:])
        raw.pop("start", None)
    if "failed" not in raw:
        kept.with_suffix(".new").write_bytes(gzip.compress(json.dumps({"told": told, "raw": raw}).encode(), 3))
        kept.with_suffix(".new").rename(kept)
    return raw


def label(case, raw):
    """(label, "") of a run, or (None, why it is left out)."""
    if "failed" in raw:
        return None, raw["failed"]
    seen = Seen(raw, case)
    said = case.judge(seen)
    if isinstance(said, str):
        return None, said
    counters = {h: {k: v for k, v in c.items() if v and k.startswith("Tcp")} for h, c in raw["counters"].items()}
    return {"truth": also(seen, said), "events": events(raw), "counters": counters}, ""


def events(raw):
    """When the trouble was, seconds since 1970: what the link did to packets, and the applications' pauses."""
    times = [h[0] for h in raw["happenings"]] + [x[3] for c in raw["connections"] for s in "ab" for x in c[s].get("steps", []) if x[0] in "sj" and x[3] - x[2] > 0.01]
    return sorted(round(raw["start"] + t, 6) for t in times)[:2000] if "start" in raw else []


def step(path, seconds, share):
    """Sets the clock of a pcap forward or back behind a share of its packets."""
    data = bytearray(path.read_bytes())
    places, at = [], 24
    while at + 16 <= len(data):
        places.append(at)
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
    for place in places[int(len(places) * share):]:
        s, ns = struct.unpack_from("<II", data, place)
        t = s * 10**9 + ns + int(seconds * 1e9)
        struct.pack_into("<II", data, place, t // 10**9, t % 10**9)
    path.write_bytes(data)
