#!/usr/bin/env bash
# Python for those who work on it: builds the module beside its sources, python/tcplab/_native.abi3.so, and an environment
# with what the tests need, target/python/env. Then: PYTHONPATH=python target/python/env/bin/python.

. "$(dirname "$0")/lib.sh"

python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    stop "missing: python3, 3.10 or later, with venv (Debian: apt install python3-venv)"
# One after the other: together they would have libraries with the features of both, and build them anew each time.
cargo build --release --locked --package tcplab
cargo build --release --locked --package tcplab-py
cp "$TARGET/release/lib_native.so" python/tcplab/_native.abi3.so

env=$TARGET/python/env
wanted=$(cat python/requirements-test.txt)
if [ "$(cat "$env/installed" 2>/dev/null)" != "$wanted" ]; then
    say "installing the Python packages of python/requirements-test.txt into $env"
    rm -rf "$env"
    python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check --requirement python/requirements-test.txt
    echo "$wanted" >"$env/installed"
fi
