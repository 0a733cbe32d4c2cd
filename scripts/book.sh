#!/usr/bin/env bash
# Builds the book, target/book/index.html, and checks its links. Needs Python 3.10 or later with venv; installs the packages of
# docs/book/requirements.txt into target/book-env. `book.sh setup` installs only.

. "$(dirname "$0")/lib.sh"

python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    stop "missing: python3, 3.10 or later, with venv (Debian: apt install python3-venv)"

env=$TARGET/book-env
wanted=$(cat docs/book/requirements.txt)
if [ "$(cat "$env/installed" 2>/dev/null)" != "$wanted" ]; then
    say "installing the Python packages of docs/book/requirements.txt into $env"
    rm -rf "$env"
    python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check --requirement docs/book/requirements.txt
    echo "$wanted" >"$env/installed"
fi
[ "${1:-}" = setup ] || "$env/bin/python" docs/book/build.py "$TARGET/book"
