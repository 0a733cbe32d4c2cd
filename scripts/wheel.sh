#!/usr/bin/env bash
# Makes the Python wheel: wheel.sh PROGRAM MACHINE FOLDER. It has the module, for every CPython from 3.10 on and every glibc
# from 2.28 on (maturin builds it with zig's C library), and the static PROGRAM as its command.

. "$(dirname "$0")/lib.sh"

program=$1 machine=$2 out=$(cd "$3" && pwd)
target=$machine-unknown-linux-gnu
rustup target list --installed | grep -qx "$target" || rustup --quiet target add "$target"

# The tools stay from one build to the next.
tools=$(realpath -m "$TARGET")/wheel/tools
wanted="maturin==1.16.0 ziglang==0.17.1"
if [ "$(cat "$tools/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    # shellcheck disable=SC2086 # two words
    "$tools/bin/pip" install --quiet --disable-pip-version-check $wanted
    echo "$wanted" >"$tools/installed"
fi

install -D -m 755 "$program" "$TARGET/wheel/data/scripts/tcplab"
cp LICENSE-MIT LICENSE-APACHE python/
cd python
PATH=$tools/bin:$PATH CARGO_TARGET_DIR=$(cd .. && realpath "$TARGET") "$tools/bin/maturin" build --profile dist --locked --zig \
    --compatibility manylinux_2_28 --target "$target" --out "$out"
