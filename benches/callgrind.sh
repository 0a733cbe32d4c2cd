#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Instructions of `tcplab analyze --json` for each packet, over the first packets of the benchmark trace (bulk
# flows) and over the last ones (short connections): a number that other work on the machine does not move, and
# the functions that take them (inclusive: with what they call).
#
#   benches/callgrind.sh [PACKETS] [DIR]      (200000, the folder that make_trace.py wrote)
#   TCPLAB=path/to/tcplab benches/callgrind.sh    measures that file instead of building
set -eu
packets=${1:-200000}
dir=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/tcplab/bench}
root=$(cd "$(dirname "$0")/.." && pwd)
for tool in valgrind callgrind_annotate tcpdump python3; do
    command -v "$tool" >/dev/null || { echo "callgrind: $tool is missing (Debian: valgrind tcpdump)" >&2; exit 4; }
done
[ -f "$dir/trace.pcap" ] || { echo "callgrind: no $dir/trace.pcap: run benches/make_trace.py first" >&2; exit 4; }

if [ -z "${TCPLAB:-}" ]; then
    # As it is handed out, but with the names of its functions.
    CARGO_PROFILE_DIST_STRIP=none CARGO_PROFILE_DIST_DEBUG=line-tables-only \
        cargo build -q --profile dist -p tcplab --manifest-path "$root/Cargo.toml"
    TCPLAB=${CARGO_TARGET_DIR:-$root/target}/dist/tcplab
fi

measure() {
    name=$1
    out="$dir/callgrind.$name"
    valgrind --tool=callgrind --callgrind-out-file="$out" "$TCPLAB" analyze --json "$dir/$name.pcap" >/dev/null 2>"$out.log"
    total=$(sed -n 's/^\(summary\|totals\): *//p' "$out" | head -n 1)
    echo "$name: $((total / packets)) instructions for each of $packets packets"
    callgrind_annotate --inclusive=yes "$out" | grep -E '^ *[0-9,]+ \(' | grep -vE 'core::ops::function|rt::lang_start|\(below main\)|PROGRAM TOTALS|main::|ld-linux' |
        sed -e 's/ \[[^]]*\]$//' -e 's/  *[^ ]*:\([^/]*\)$/  \1/' | awk '!seen[$0]++' | head -n "${TOP:-25}" | cut -c 1-150
}

tcpdump -r "$dir/trace.pcap" -w "$dir/bulk.pcap" -c "$packets" 2>/dev/null
python3 - "$dir" "$packets" <<'PYTHON'
# The last packets: one pass for the offsets of the records.
import struct, sys
from collections import deque

folder, packets = sys.argv[1], int(sys.argv[2])
starts, length = deque(maxlen=packets), struct.Struct("<8xI4x")
with open(f"{folder}/trace.pcap", "rb") as trace:
    head = trace.read(24)
    while record := trace.read(16):
        starts.append(trace.tell() - 16)
        trace.seek(length.unpack(record)[0], 1)
    trace.seek(starts[0])
    with open(f"{folder}/short.pcap", "wb") as out:
        out.write(head + trace.read())
PYTHON
measure bulk
measure short
