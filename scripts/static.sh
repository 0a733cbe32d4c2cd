#!/usr/bin/env bash
# Builds target/static/tcplab: linked with the C library and all others inside, for hosts of `--on ssh:A,B` that have
# an older C library than this machine, or another one.

. "$(dirname "$0")/lib.sh"

host=$(rustc -vV | sed -n 's/^host: //p')
# With --target the flag is not for programs that run during the build.
RUSTFLAGS="${RUSTFLAGS-} -C target-feature=+crt-static" \
    cargo build --profile dist --locked --package tcplab --target "$host"
mkdir -p "$TARGET/static"
cp "$TARGET/$host/dist/tcplab" "$TARGET/static/tcplab"
say "$TARGET/static/tcplab"
