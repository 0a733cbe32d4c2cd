#!/usr/bin/env bash
# Installs each thing that `make dist` makes into an empty place, and uses it there; what is for aarch64 under qemu, with the
# tests of the crates that know no operating system; builds every crate from its package: `make campaign-dist`. Prints a row for
# docs/campaigns.md, and says what could not be tried here.

. "$(dirname "$0")/lib.sh"

bash "$(dirname "$0")/dist.sh"
out=$(cd "$TARGET/dist-out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
capture=$PWD/tests/captures/write-write-read.a.pcap
tried=()
machine=$(uname -m)
version=$("$TARGET/static/tcplab" --version | awk '{ print $2 }')
architecture=$(dpkg --print-architecture)

# WORDS... are the program: it must find what is wrong in a capture, and run an experiment that it carries.
use() { # NAME WORDS...
    local name=$1
    shift
    # grep reads to the end: a program whose reader goes away ends with 141.
    "$@" analyze - < "$capture" | grep 'delack_nagle' > /dev/null
    "$@" new two-hosts - | "$@" run - --repeat 3 | grep ' better$' > /dev/null
    say "$name: installed and used"
    tried+=("$name")
}

(cd "$out" && sha256sum --quiet --check SHA256SUMS)

mkdir "$scratch/tar"
tar -C "$scratch/tar" -xzf "$out/tcplab-$version-$machine-linux.tar.gz"
use archive env -i "$scratch/tar/bin/tcplab"
man -l "$scratch/tar/share/man/man1/tcplab-run.1.gz" 2> /dev/null | grep 'Exit codes' > /dev/null ||
    say "the manual page was not looked at: no man here"

# A root with nothing in it: no C library, no shell.
root=$scratch/debian
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"
touch "$root/var/lib/dpkg/status"
dpkg --root="$root" --install "$out/tcplab_${version}_$architecture.deb" > /dev/null
[ -e "$root/usr/share/man/man1/tcplab-analyze.1.gz" ]
[ "$(dpkg-query --root="$root" -W -f '${Status}' tcplab 2> /dev/null ||
    dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Status}' tcplab)" = "install ok installed" ]
mkdir "$root/proc"
use deb unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /usr/bin/tcplab

# Into an empty environment of each CPython that the wheel is for and that is here.
for python in python3 python3.10 python3.11 python3.12 python3.13 python3.14; do
    for program in $(type -aP "$python") "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/"$python"; do
        [ -x "$program" ] && "$program" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2> /dev/null || continue
        which=$("$program" -c 'import platform; print(platform.python_version())') || continue
        [ ! -e "$scratch/venv-$which" ] || continue
        "$program" -m venv "$scratch/venv-$which" || continue
        "$scratch/venv-$which/bin/pip" install --quiet --no-index --disable-pip-version-check "$out"/tcplab-*"_$machine".whl
        "$scratch/venv-$which/bin/python" -I -c '
import sys, tcplab as tl
analysis = tl.analyze(sys.argv[1])
assert "delack_nagle" in analysis.findings["id"]
assert len(tl.run(tl.examples()["delayed-ack"]).points) == 4
' "$capture"
        use "wheel ($which)" env -i "$scratch/venv-$which/bin/tcplab"
    done
done

image=$(find "$out" -name "*-$architecture.oci.tar")
if [ -z "$image" ] || ! have runc; then
    say "the image was not started: it needs umoci and runc (Debian: apt install umoci runc)"
else
    mkdir "$scratch/image"
    tar -C "$scratch/image" -xf "$image"
    umoci unpack --image "$scratch/image:$version" "$scratch/bundle" 2> /dev/null
    contained() { # ARGUMENTS...
        # Two may run at once: each has a configuration and a name of its own.
        local own=$scratch/bundle.$BASHPID
        mkdir "$own"
        python3 -c '
import json, sys
bundle, own, *words = sys.argv[1:]
config = json.load(open(f"{bundle}/config.json"))
config["root"]["path"] = f"{bundle}/rootfs"
config["process"]["args"] = ["/usr/bin/tcplab", *words]
config["process"]["terminal"] = False
json.dump(config, open(f"{own}/config.json", "w"))
' "$scratch/bundle" "$own" "$@"
        runc --root "$scratch/runc" run --bundle "$own" "tcplab-$BASHPID"
        rm -r "$own"
    }
    use image contained
fi

# The crates that know no operating system: their tests are of arithmetic, formats and protocols.
PORTABLE=(base wire capture qdisc tcp apps link sim)
foreign() {
    local far=$out/tcplab-$version-aarch64-linux.tar.gz
    [ -e "$far" ] || { say "nothing was made for aarch64"; return; }
    have qemu-aarch64-static || { say "aarch64 was not tried: no qemu (Debian: apt install qemu-user-static)"; return; }
    mkdir "$scratch/far" "$scratch/far-deb"
    tar -C "$scratch/far" -xzf "$far"
    use archive-aarch64 qemu-aarch64-static "$scratch/far/bin/tcplab"
    dpkg-deb -x "$out/tcplab_${version}_arm64.deb" "$scratch/far-deb"
    use deb-aarch64 qemu-aarch64-static "$scratch/far-deb/usr/bin/tcplab"
    local venvs=("$scratch"/venv-*)
    "${venvs[0]}/bin/pip" install --quiet --no-index --disable-pip-version-check --platform manylinux_2_28_aarch64 \
        --only-binary :all: --target "$scratch/far-wheel" "$out"/tcplab-*_aarch64.whl
    use wheel-aarch64 qemu-aarch64-static "$scratch/far-wheel/bin/tcplab"
    # Static, so that qemu needs no libraries of the other machine.
    RUSTFLAGS="-C target-feature=+crt-static" RUSTDOCFLAGS="-C target-feature=+crt-static" CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64-static \
        cargo test --quiet --locked --target aarch64-unknown-linux-gnu "${PORTABLE[@]/#/--package=tcplab-}" |
        awk '/^test result:/ { passed += $4; failed += $6 } END { print "==> aarch64:", passed, "tests passed,", failed + 0, "failed" }'
    tried+=(tests-aarch64)
}
foreign

# Every crate from its package, against the packages of the others.
cargo package --quiet --workspace --locked --allow-dirty
tried+=(packages)

sizes=$(cd "$out" && stat -c '%n %s' -- *.deb *.whl *.tar.gz | awk '{ printf "%s%.1f MB", sep, $2 / 1e6; sep = ", " }')
size=$(stat -c %s "$TARGET/static/tcplab" | awk '{ printf "%.1f MB", $1 / 1e6 }')
printf '| %s | %s | %s | %s | %s |\n' "$(date -u +%F)" "$(git rev-parse --short HEAD)" "${tried[*]}" "$size" "$sizes"
