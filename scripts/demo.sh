#!/usr/bin/env bash
# Builds tcplab, analyses a capture that ships with the project and writes the
# HTML report, whose name is the last line.

. "$(dirname "$0")/lib.sh"

capture=${1:-tests/captures/quickack-5.10.46.a.pcap}
report=target/demo/report.html

bash scripts/setup.sh build
bash scripts/web.sh
say "building tcplab"
cargo build --release --locked --package tcplab

mkdir -p target/demo
say "tcplab analyze --html $report $capture"
"$TARGET/release/tcplab" analyze --html "$report" "$capture"
[ -s "$report" ] || { echo "error: no report was written" >&2; exit 1; }
echo
echo "The report, for a browser: $report"
