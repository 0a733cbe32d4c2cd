#!/usr/bin/env bash
# Builds the report page, web/dist/index.html, when its sources have changed.
#
# Stamps hold the hash of what went in: the lock file for web/node_modules, the
# sources for web/dist. While they match, npm is not called and no network needed.

. "$(dirname "$0")/lib.sh"

[ -f web/package.json ] || exit 0

export npm_config_update_notifier=false

modules_stamp=web/node_modules/.stamp
dist_stamp=web/dist/.stamp

modules_hash=$({ cat web/package.json web/package-lock.json; node --version; } | sha256sum)
if [ "$(cat "$modules_stamp" 2>/dev/null)" != "$modules_hash" ]; then
    say "installing the packages of web/package-lock.json into web/node_modules"
    npm --prefix web ci --no-audit --no-fund --prefer-offline
    printf '%s\n' "$modules_hash" >"$modules_stamp"
fi

sources_hash=$(
    find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' -print0 \
        | LC_ALL=C sort -z | xargs -0 cat "$modules_stamp" | sha256sum
)
if [ ! -f web/dist/index.html ] || [ "$(cat "$dist_stamp" 2>/dev/null)" != "$sources_hash" ]; then
    say "building the report page (web/dist)"
    npm --prefix web run build
    printf '%s\n' "$sources_hash" >"$dist_stamp"
fi
