#!/usr/bin/env bash
# Runs every check and every test, goes on after a failure, and closes with one
# line: `N passed, N failed`. A style check counts as one; the tests of cargo and
# of the page count as they report themselves. Logs: target/test/NAME.log.

. "$(dirname "$0")/lib.sh"

# Nothing here may wait for a person, and nothing may colour its output.
exec </dev/null
export CARGO_TERM_COLOR=never NO_COLOR=1

LOGS=target/test
mkdir -p "$LOGS"
rm -f "$LOGS"/*.log "$LOGS/closing-line"

passed=0 failed=0 ignored=0
table=()

# The sum of the numbers that the sed expression $2 prints of the log $1.
sum() { sed -nE "$2" "$1" | awk '{ n += $1 } END { print n + 0 }'; }

# step NAME COMMAND...: runs the command and adds its counts.
step() {
    local name=$1 log=$LOGS/$1.log began=$SECONDS status=0 ok bad skip
    shift
    say "$name: $*"
    "$@" 2>&1 | tee "$log" || status=$?
    # cargo test, then node --test (two reporters), then vitest, then pytest.
    ok=$(sum "$log" 's/^test result: .* ([0-9]+) passed;.*/\1/p; s/^(#|ℹ) pass ([0-9]+)$/\2/p; s/^ *Tests .*[^0-9]([0-9]+) passed.*/\1/p; s/^(.*, )?([0-9]+) passed.* in [0-9.]+s.*$/\2/p')
    bad=$(sum "$log" 's/^test result: .* ([0-9]+) failed;.*/\1/p; s/^(#|ℹ) fail ([0-9]+)$/\2/p; s/^ *Tests .*[^0-9]([0-9]+) failed.*/\1/p; s/^([0-9]+) failed.* in [0-9.]+s.*$/\1/p')
    skip=$(sum "$log" 's/^test result: .* ([0-9]+) ignored;.*/\1/p; s/^(#|ℹ) skipped ([0-9]+)$/\2/p; s/^ *Tests .*[^0-9]([0-9]+) skipped.*/\1/p')
    # A step that counts no tests is one check; a bad end that no test owns is a failure.
    if [ "$status" -eq 0 ]; then
        [ $((ok + bad)) -gt 0 ] || ok=1
    else
        [ "$bad" -gt 0 ] || bad=1
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) ignored=$((ignored + skip))
    table+=("$(printf '%-10s %5d passed %4d failed %6d s' "$name" "$ok" "$bad" $((SECONDS - began)))")
}

# The Python module, with the command that was built before: types, then tests.
python_module() {
    bash scripts/python.sh || return 1
    local python=$PWD/$TARGET/python/env/bin/python
    [ "${TARGET#/}" = "$TARGET" ] || python=$TARGET/python/env/bin/python
    (cd python && "$python" -m pyright && PYTHONPATH=. "$python" -m pytest --tb=short)
}

python_syntax() {
    git ls-files -z '*.py' | xargs -0 -r python3 -c '
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)
print(len(sys.argv) - 1, "Python files parse")'
}

shell_syntax() {
    local file
    for file in scripts/*.sh .ci/run; do
        bash -n "$file" || return 1
    done
}

# The release build gives the digests that the tests of the debug build are held to.
digests() {
    "$TARGET/release/tcplab" run tests/golden/model-digests.toml --on model --json | python3 -c '
import json, sys
points = json.load(sys.stdin)["points"]
print(*(point["digest"] for point in points), sep="\n")' | diff tests/golden/model-digests.txt - ||
        { echo "the release build gives other digests (>) than tests/golden/model-digests.txt"; return 1; }
    echo "the release build gives the digests of tests/golden/model-digests.txt"
}

# Real kernels for the tests that need one: minutes once, then cached. Where they cannot be had the
# tests say so and are skipped.
kernels() {
    local edit status
    for edit in '' mss-boundary quickack-count quickack-6.1.56 el8-receiver recovlat+rto-choice+tlp-2016; do
        status=0
        # Several edits of one kernel are joined by +, as in its name.
        "$TARGET/release/tcplab" kernel build 6.1 ${edit:+--edit ${edit//+/ --edit }} --install || status=$?
        # 4: this machine cannot, and the message has said why.
        [ "$status" -ne 4 ] || { echo "skipped: no kernels here"; return 0; }
        [ "$status" -eq 0 ] || return 1
    done
}

# Whether all of those kernels are built.
kernels_are_here() {
    local listed edit
    listed=$("$TARGET/release/tcplab" stacks --json) || return 1
    for edit in '' +mss-boundary +quickack-count +quickack-6.1.56 +el8-receiver +recovlat+rto-choice+tlp-2016; do
        grep -q "\"uml:6.1$edit\"" <<<"$listed" || return 1
    done
}

# The page that is committed is what its sources make.
page() {
    bash scripts/web.sh && git diff --exit-code --stat -- crates/report/page ||
        { echo "crates/report/page/index.html is not what web/ makes: run make web and commit it"; return 1; }
}

# What needs no Linux compiles for macOS and Windows; it is not run there. zstd's C code needs a compiler for those: this
# checks ours only, and the build script of zstd is content with `true`.
elsewhere() {
    local target under
    for target in x86_64-apple-darwin x86_64-pc-windows-gnu; do
        rustup target list --installed | grep -qx "$target" || rustup --quiet target add "$target" ||
            { echo "not checked: rustup cannot get $target"; continue; }
        under=${target//-/_}
        env "CC_$under=true" "AR_$under=true" RUSTFLAGS='-D warnings' \
            cargo check --locked --package tcplab --target "$target" || return 1
        # Nothing reads it again on a machine that compiles once.
        [ -z "${CI:-}" ] || rm -rf "${TARGET:?}/$target"
    done
}

bash scripts/setup.sh test

step tidy cargo xtask tidy
step fmt cargo fmt --all --check
step shell shell_syntax
step python python_syntax
step clippy cargo clippy --workspace --all-targets --locked -- -D warnings
step elsewhere elsewhere
step page page
step build cargo build --release --locked --package tcplab
step digests digests
step kernels kernels
step documents cargo xtask documents
step book bash scripts/book.sh
step pictures bash scripts/pictures.sh --check
# Tests that need a kernel are ignored unless they are asked for; they count as not run where there is none.
asked=()
if kernels_are_here; then
    asked=(-- --include-ignored)
    # No test fetches an image.
    { have qemu-system-x86_64 && "$TARGET/release/tcplab" stacks --json | grep -q '"qemu:[0-9]'; } ||
        asked+=(--skip stock_kernel)
    "$TARGET/release/tcplab" stacks --json | grep -q '"uml:6.1+el8-receiver@1000"' || asked+=(--skip at_1000_hz)
fi
step rust cargo test --workspace --locked --no-fail-fast "${asked[@]}"
# The optional writer of --flows and --rows, which the run above does without: two crates once more, their tests of it.
step parquet cargo test --locked --package tcplab --package tcplab-lab --features parquet --lib --test command -- flows parquet
step module python_module
if [ -f web/package.json ]; then
    step web npm --prefix web test
fi

echo
printf '%s\n' "${table[@]}"
[ "$ignored" -eq 0 ] || echo "not run: $ignored (each says why in its log)"
closing="$passed passed, $failed failed"
echo "$closing" >"$LOGS/closing-line"
[ "${CLOSING_LINE:-yes}" = no ] || echo "$closing"
[ "$failed" -eq 0 ]
