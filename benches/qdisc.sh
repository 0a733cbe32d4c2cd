#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Instructions of one enqueue and one dequeue in each qdisc, with 1,000 flows and 4,000 packets waiting: a number that
# other work on the machine does not move. Two runs of the example `qdisc_cost` under callgrind, one of 20,000 packets
# and one of 120,000: what begins and ends falls out.
#
#   benches/qdisc.sh
#   QDISC_COST=path/to/qdisc_cost benches/qdisc.sh    measures that file instead of building
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
command -v valgrind >/dev/null || { echo "qdisc: valgrind is missing (Debian: valgrind)" >&2; exit 4; }
if [ -z "${QDISC_COST:-}" ]; then
    cargo build -q --profile dist -p tcplab-lab --example qdisc_cost --manifest-path "$root/Cargo.toml"
    QDISC_COST=${CARGO_TARGET_DIR:-$root/target}/dist/examples/qdisc_cost
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT

instructions() {
    PACKETS=$1 valgrind --tool=callgrind --callgrind-out-file="$out" "$QDISC_COST" "$2" >/dev/null 2>&1
    sed -n 's/^\(summary\|totals\): *//p' "$out" | head -n 1
}

printf '%-46s %12s\n' qdisc instructions
"$QDISC_COST" --list | while read -r words; do
    few=$(instructions 20000 "$words")
    many=$(instructions 120000 "$words")
    printf '%-46s %12d\n' "$words" $(((many - few) / 100000))
done
