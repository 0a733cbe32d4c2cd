#!/usr/bin/env bash
# Builds the report page, crates/report/page/index.html, when its sources have changed. The page is committed.
#
# Stamps in web/node_modules hold the hash of what went in: the lock file, and the sources of
# the page. While they match, npm is not called and no network needed.

. "$(dirname "$0")/lib.sh"

[ -f web/package.json ] || exit 0

export npm_config_update_notifier=false

modules_stamp=web/node_modules/.stamp
page=crates/report/page/index.html
page_stamp=web/node_modules/.page

modules_hash=$({ cat web/package.json web/package-lock.json; node --version; } | sha256sum)
if [ "$(cat "$modules_stamp" 2>/dev/null)" != "$modules_hash" ]; then
    say "installing the packages of web/package-lock.json into web/node_modules"
    npm --prefix web ci --no-audit --no-fund --prefer-offline
    printf '%s\n' "$modules_hash" >"$modules_stamp"
fi

sources_hash=$(
    find web -type f -not -path 'web/node_modules/*' -print0 \
        | LC_ALL=C sort -z | xargs -0 cat "$modules_stamp" | sha256sum
)
if [ ! -f "$page" ] || [ "$(cat "$page_stamp" 2>/dev/null)" != "$sources_hash" ]; then
    say "building the report page ($page)"
    npm --prefix web run build
    printf '%s\n' "$sources_hash" >"$page_stamp"
fi
