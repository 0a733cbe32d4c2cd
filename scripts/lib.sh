# What the scripts of this folder share; sourced, not run.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Cargo from rustup, when this shell did not read the profile that puts it in PATH.
if ! command -v cargo >/dev/null && [ -r "${CARGO_HOME:-$HOME/.cargo}/env" ]; then
    . "${CARGO_HOME:-$HOME/.cargo}/env"
fi

TARGET=${CARGO_TARGET_DIR:-target}

say() { printf '==> %s\n' "$*"; }

# Exit code 4: cannot run here; the message says what is missing.
stop() {
    printf 'error: %s\n' "$*" >&2
    exit 4
}

have() { command -v "$1" >/dev/null; }
