#!/usr/bin/env bash
# Installs each thing that `make dist` makes into an empty place, and uses it there: `make campaign-dist`. Prints a row
# for docs/campaigns.md, and says what could not be tried here.

. "$(dirname "$0")/lib.sh"

bash "$(dirname "$0")/dist.sh"
out=$(cd "$TARGET/dist-out" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
capture=$PWD/tests/captures/write-write-read.a.pcap
tried=()

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
tar -C "$scratch/tar" -xzf "$out"/tcplab-*-linux.tar.gz
use archive env -i "$scratch/tar/bin/tcplab"
man -l "$scratch/tar/share/man/man1/tcplab-run.1.gz" 2> /dev/null | grep 'Exit codes' > /dev/null ||
    say "the manual page was not looked at: no man here"

# A root with nothing in it: no C library, no shell.
root=$scratch/debian
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"
touch "$root/var/lib/dpkg/status"
dpkg --root="$root" --install "$out"/tcplab_*.deb > /dev/null
[ -e "$root/usr/share/man/man1/tcplab-analyze.1.gz" ]
[ "$(dpkg-query --root="$root" -W -f '${Status}' tcplab 2> /dev/null ||
    dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Status}' tcplab)" = "install ok installed" ]
mkdir "$root/proc"
use deb unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /usr/bin/tcplab

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$out"/tcplab-*.whl
use wheel env -i "$scratch/venv/bin/tcplab"

image=$(find "$out" -name '*.oci.tar')
if [ -z "$image" ] || ! have runc; then
    say "the image was not started: it needs umoci and runc (Debian: apt install umoci runc)"
else
    mkdir "$scratch/image"
    tar -C "$scratch/image" -xf "$image"
    version=$("$TARGET/static/tcplab" --version | awk '{ print $2 }')
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

sizes=$(cd "$out" && stat -c '%n %s' -- *.deb *.whl *.tar.gz | awk '{ printf "%s%.1f MB", sep, $2 / 1e6; sep = ", " }')
size=$(stat -c %s "$TARGET/static/tcplab" | awk '{ printf "%.1f MB", $1 / 1e6 }')
printf '| %s | %s | %s | %s | %s |\n' "$(date -u +%F)" "$(git rev-parse --short HEAD)" "${tried[*]}" "$size" "$sizes"
