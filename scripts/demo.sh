#!/usr/bin/env bash
# Builds tcplab; runs the first experiment on the model, and on the kernels that are
# there (it builds none); analyses a capture that ships with the project and writes the HTML report,
# whose name is the last line.

. "$(dirname "$0")/lib.sh"

capture=${1:-tests/captures/quickack-5.10.46.a.pcap}
report=target/demo/report.html

bash scripts/setup.sh build
bash scripts/web.sh
say "building tcplab"
cargo build --release --locked --package tcplab

experiment=examples/delayed-ack.toml
# Of the experiment's stacks those that `tcplab stacks` lists.
here=$("$TARGET/release/tcplab" run --dry-run "$experiment" | python3 -c '
import json, subprocess, sys
listed = json.loads(subprocess.run([sys.argv[1], "stacks", "--json"], capture_output=True, check=True).stdout)
names = {n for s in listed["stacks"] if "lacks" not in s for n in [s["stack"], *s.get("also", [])]}
print(",".join(s for s in json.load(sys.stdin)["stacks"] if s in names))' "$TARGET/release/tcplab")
on=model:linux-6.1,model:linux-6.1.56${here:+,$here}
say "tcplab run $experiment --on $on"
"$TARGET/release/tcplab" run "$experiment" --on "$on"
echo
[ -n "$here" ] ||
    say "no kernel to compare the model with; about 6 CPU minutes make one: $TARGET/release/tcplab kernel build 6.1"

mkdir -p target/demo
say "tcplab analyze --html $report $capture"
"$TARGET/release/tcplab" analyze --html "$report" "$capture"
[ -s "$report" ] || { echo "error: no report was written" >&2; exit 1; }
echo
echo "The report, for a browser: $report"
