#!/usr/bin/env python3
"""Captures with a forged RST: resets.py. It needs editcap (Wireshark).

`tcplab run` sends them on a real kernel in virtual time (`uml:6.1`): the server sends 60 kB to the client over 20 Mbit/s and
40 ms, and the link's `inject` puts a RST on the way in the name of an end. Writes its captures into tests/captures;
shipping.py has its lines in the README and in labels.json.
"""

import json
import subprocess
import tempfile
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent.parent / "tests" / "captures"
HOSTS = {"a": "client", "b": "server"}
SNAP = 96

EXPERIMENT = """
title = "A forged RST"
[[host]]
name = "client"
[[host]]
name = "server"
[[link]]
between = ["client", "server"]
rate = "20mbit"
delay = "20ms"
{direction}.inject = ["95ms rst{more}"]
[[app]]
kind = "bulk"
reverse = true
bytes = "60 kB"
"""

# name, where (a: client, b: server), direction, sequence number, causes, allowed, how it was made
CAPTURES = [
    ("reset-ignored-far", "a", "b_to_a", " seq +5000000", ["reset_ignored"], [],
     "server sends 60 kB; a forged RST in its name, 5,000,000 bytes ahead of the next number: the client drops it"),
    ("reset-ignored", "b", "a_to_b", " seq +300", ["reset_ignored"], [],
     "the same with a RST in the client's name, 300 bytes ahead: the server answers with a challenge ACK and goes on"),
    ("reset-forged", "b", "a_to_b", "", ["reset_by_middlebox"], ["reset"],
     "the same with exactly the next number: it ends the connection at the server, and the client goes on with ACKs"),
]


def capture(tcplab, name, point, direction, more):
    """Makes one capture; gives the kernel and the counters of both hosts."""
    with tempfile.TemporaryDirectory() as folder:
        experiment, out = Path(folder, "rst.toml"), Path(folder, "out")
        experiment.write_text(EXPERIMENT.format(direction=direction, more=more))
        subprocess.run([tcplab, "run", str(experiment), "--on", "uml:6.1", "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
        place = out / "points" / "0000"
        file = OUT / f"{name}.{point}.pcap"
        subprocess.run(["editcap", "-F", "nsecpcap", "-s", str(SNAP), str(place / f"{HOSTS[point]}.eth0.pcapng"), str(file)], check=True)
        result = json.loads((place / "result.json").read_text())
    counters = {side: {k: n for k, n in result["counters"][host].items() if n} for side, host in HOSTS.items()}
    return result["kernel"].removeprefix("Linux "), counters


def main():
    import labrun
    import shipping

    labels = {}
    for name, point, direction, more, causes, also, text in CAPTURES:
        kernel, counters = capture(labrun.tcplab(), name, point, direction, more)
        file = f"{name}.{point}.pcap"
        labels[file] = {
            "kernel": kernel, "hz": 250, "captured_at": point, "causes": causes, "allowed": ["slow_start", *also],
            "scenario": [f"{direction}.inject=95ms rst{more}"], "link": [], "counters": counters,
            "readme": f"| `{file}` | {kernel}, HZ=250 (linux-source-6.1 as User-Mode Linux, virtual time, `resets.py`) | at the {HOSTS[point]} | {text} |\n",
        }
    shipping.write(labels)


if __name__ == "__main__":
    main()
