#!/usr/bin/env bash
# Builds target/static/tcplab, which needs no library of the machine that it runs on: for hosts of `--on ssh:A,B` with an
# older C library than this machine, or another one. With an argument, for another processor: static.sh aarch64 builds
# target/static/tcplab-aarch64 (Debian: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross).

. "$(dirname "$0")/lib.sh"

own=$(rustc -vV | sed -n 's/^host: //p')
machine=${1:-${own%%-*}}
target=$machine-unknown-linux-gnu
name=tcplab
if [ "$target" != "$own" ]; then
    name=tcplab-$machine
    have "$machine-linux-gnu-gcc" || stop "missing: $machine-linux-gnu-gcc (Debian: apt install gcc-$machine-linux-gnu libc6-dev-arm64-cross)"
    rustup target list --installed | grep -qx "$target" || rustup --quiet target add "$target"
    under=${target//-/_}
    export "CC_$under=$machine-linux-gnu-gcc" "CARGO_TARGET_${under^^}_LINKER=$machine-linux-gnu-gcc"
fi
# With --target the flags are not for programs that run during the build. A profile of the package `tcplab` makes cargo forget
# that `dist` strips symbols.
RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static -C strip=symbols" \
    cargo build --profile dist --locked --package tcplab --target "$target"
mkdir -p "$TARGET/static"
cp "$TARGET/$target/dist/tcplab" "$TARGET/static/$name"
say "$TARGET/static/$name"
