#!/usr/bin/env bash
# Builds tcplab; runs the first experiment on the model, then on the kernels that are
# there (it builds none); analyses a capture that ships with the project and writes the HTML report,
# whose name is the last line.

. "$(dirname "$0")/lib.sh"

capture=${1:-tests/captures/write-write-read.a.pcap}
report=target/demo/report.html

bash scripts/setup.sh build
say "building tcplab"
cargo build --release --locked --package tcplab

experiment=examples/delayed-ack.toml
say "tcplab run $experiment"
"$TARGET/release/tcplab" run "$experiment"
echo
# Of the kernels that the experiment's head names those that `tcplab stacks` lists.
here=$("$TARGET/release/tcplab" stacks --json | python3 -c '
import json, sys
listed = json.load(sys.stdin)["stacks"]
names = {n for s in listed if "lacks" not in s for n in [s["stack"], *s.get("also", [])]}
print(",".join(s for s in sys.argv[1:] if s in names))' uml:6.1 uml:6.1+quickack-6.1.56 uml:6.1+mss-boundary uml:6.1+quickack-count)
if [ -n "$here" ]; then
    say "tcplab run $experiment --on $here"
    "$TARGET/release/tcplab" run "$experiment" --on "$here"
    echo
fi
[ -n "$here" ] ||
    say "no kernel to compare the model with; about 6 CPU minutes make one: $TARGET/release/tcplab kernel build 6.1"

mkdir -p target/demo
say "tcplab analyze --html $report $capture"
"$TARGET/release/tcplab" analyze --html "$report" "$capture"
[ -s "$report" ] || { echo "error: no report was written" >&2; exit 1; }
echo
echo "The report, for a browser: $report"
