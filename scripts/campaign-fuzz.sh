#!/usr/bin/env bash
# Mutated manifests and result folders, many of them: `make campaign-fuzz SEED=1 N=1000000`. A tenth of N runs on the
# model, a hundredth goes on with a mutated result folder. Adds a row to docs/campaigns.md.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${SEED:-1}
n=${N:-1000000}
runs=${RUNS:-$((n / 10))}
folders=${FOLDERS:-$((n / 100))}

# The profile of the tests: overflow checks and debug assertions are on.
cargo build --quiet --profile test --package tcplab-fuzz-targets --example campaign
target=${CARGO_TARGET_DIR:-target}
commit=$(git rev-parse --short HEAD)
git diff --quiet HEAD -- crates fuzz || commit="$commit+"
began=$(date +%s)
code=0
row=$("$target/debug/examples/campaign" "$seed" "$n" "$runs" "$folders") || code=$?
took=$(($(date +%s) - began))
[ -n "$row" ] || exit "$code"

line="| $(date -u +%F) | $commit | $seed | $row | $took s |"
head -n 1000 docs/campaigns.md | grep -q '^| date ' || exit 2
# Below the last row of the table; notes stand under it.
last=$(grep -n '^|' docs/campaigns.md | tail -n 1 | cut -d: -f1)
sed -i "${last}a\\$line" docs/campaigns.md
printf '%s\n' "$line"
exit "$code"
