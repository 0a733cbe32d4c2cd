#!/usr/bin/env bash
# Installs what the build (`setup.sh build`), the report page (`setup.sh web`) or all tests (`setup.sh test`)
# miss: Debian packages by apt, parts of Rust by rustup. Says what it installs;
# does nothing, and needs no network, when all is there.

. "$(dirname "$0")/lib.sh"

# command:package, for each command that must be there.
BUILD_NEEDS=(cc:build-essential)
WEB_NEEDS=(npm:npm)
TEST_NEEDS=(python3:python3 chromium:chromium tshark:tshark tcpdump:tcpdump ip:iproute2
    flex:flex bison:bison bc:bc xz:xz-utils ssh:openssh-client sshd:openssh-server)

# The tests start an sshd of their own. The package's service must not start with it, neither now (invoke-rc.d asks
# policy-rc.d) nor at the next boot.
POLICY=/usr/sbin/policy-rc.d
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; elif [ -t 0 ]; then sudo "$@"; else sudo -n "$@"; fi
}
without_service() {
    local made=
    if [ ! -e "$POLICY" ]; then
        made=1
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" >/dev/null
        as_root chmod 755 "$POLICY"
    fi
    install_packages "$@"
    [ -z "$made" ] || as_root rm -f "$POLICY"
    for service in ssh.service:openssh-server ssh.socket:openssh-server; do
        [[ " $* " == *" ${service##*:} "* ]] || continue
        have systemctl && as_root systemctl disable "${service%%:*}" >/dev/null 2>&1 || true
        say "${service%%:*} of ${service##*:} is not started"
    done
}

install_packages() {
    local as_root=()
    have apt-get || stop "missing: $*. Install them; this machine has no apt-get."
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || stop "missing: $*. As root: apt-get install $*"
        as_root=(sudo)
        # Without a terminal sudo must not wait for a password.
        [ -t 0 ] || as_root+=(-n)
    fi
    say "installing Debian packages: $*"
    "${as_root[@]}" apt-get update -qq || say "apt-get update failed; trying with the old lists"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null \
        || stop "apt-get could not install: $*"
}

# sbin is not in every user's PATH, but `ip` may lie there.
PATH=$PATH:/usr/sbin:/sbin

what=${1:-build}
needs=("${BUILD_NEEDS[@]}")
[ "$what" = build ] || needs+=("${WEB_NEEDS[@]}")
[ "$what" = test ] && needs+=("${TEST_NEEDS[@]}")
missing=()
for need in "${needs[@]}"; do
    have "${need%%:*}" || missing+=("${need##*:}")
done
if [ "$what" = test ] && have python3 && ! python3 -c 'import ensurepip' 2>/dev/null; then
    missing+=(python3-venv)
fi
if [[ " ${missing[*]-} " =~ " openssh-server " ]]; then
    without_service "${missing[@]}"
elif [ ${#missing[@]} -gt 0 ]; then
    install_packages "${missing[@]}"
fi

have cargo || stop "missing: Rust. See https://rustup.rs"
[ "$what" = build ] || have node || stop "missing: Node 20 or later. See https://nodejs.org"

if [ "$what" = test ]; then
    for part in fmt:rustfmt clippy:clippy; do
        cargo "${part%%:*}" --version >/dev/null 2>&1 && continue
        say "installing ${part##*:}"
        rustup component add "${part##*:}" || stop "missing: ${part##*:}, a part of Rust"
    done
fi
