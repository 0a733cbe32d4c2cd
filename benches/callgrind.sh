#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Instructions of `tcplab analyze --json` for each packet, over the first packets of the benchmark trace: a
# number that other work on the machine does not move, and where they go.
#
#   benches/callgrind.sh [PACKETS] [DIR]      (200000, the folder that make_trace.py wrote)
set -eu
packets=${1:-200000}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/tcplab/bench}
root=$(cd "$(dirname "$0")/.." && pwd)
for tool in valgrind callgrind_annotate tcpdump; do
    command -v "$tool" >/dev/null || { echo "callgrind: $tool is missing (Debian: valgrind tcpdump)" >&2; exit 4; }
done
[ -f "$dir/trace.pcap" ] || { echo "callgrind: no $dir/trace.pcap: run benches/make_trace.py first" >&2; exit 4; }

cargo build -q --release -p tcplab --manifest-path "$root/Cargo.toml"
tcplab=${CARGO_TARGET_DIR:-$root/target}/release/tcplab
head="$dir/first.pcap"
out="$dir/callgrind.out"
tcpdump -r "$dir/trace.pcap" -w "$head" -c "$packets" 2>/dev/null
valgrind --tool=callgrind --callgrind-out-file="$out" "$tcplab" analyze --json "$head" >/dev/null 2>"$dir/callgrind.log"
total=$(sed -n 's/^\(summary\|totals\): *//p' "$out" | head -n 1)
echo "$total instructions, $((total / packets)) for each of $packets packets"
callgrind_annotate --inclusive=no --show-percs=yes "$out" | grep -E '^ *[0-9,]+ \(' | head -n "${TOP:-25}" | cut -c 1-180
