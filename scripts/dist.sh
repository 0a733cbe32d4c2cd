#!/usr/bin/env bash
# Makes what is handed out, in target/dist-out: the static program with manual pages, completions and examples as a tar
# archive, a Debian package, a Python wheel and an OCI image, for this machine's processor and, where a compiler for it is
# installed, for aarch64; and their checksums.

. "$(dirname "$0")/lib.sh"

bash scripts/static.sh
native=$TARGET/static/tcplab
version=$("$native" --version | awk '{ print $2 }')
out=$TARGET/dist-out
rm -rf "$out"
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What the program writes about itself comes from the one that runs here.
tree() { # PROGRAM FOLDER: the files as a Debian machine has them; the archive has the same
    local root=$2
    install -D -m 755 "$1" "$root/usr/bin/tcplab"
    mkdir -p "$root/usr/share/man/man1"
    "$native" man --out "$root/usr/share/man/man1"
    gzip -9n "$root"/usr/share/man/man1/*
    completion bash "$root/usr/share/bash-completion/completions/tcplab"
    completion zsh "$root/usr/share/zsh/vendor-completions/_tcplab"
    completion fish "$root/usr/share/fish/vendor_completions.d/tcplab.fish"
    local doc=$root/usr/share/doc/tcplab
    mkdir -p "$doc/examples"
    cp LICENSE-MIT LICENSE-APACHE README.md "$doc"
    cp examples/*.toml "$doc/examples"
    # Debian's policy wants the licence under this name.
    cat LICENSE-MIT > "$doc/copyright"
}

completion() { # SHELL FILE
    mkdir -p "$(dirname "$2")"
    "$native" completions "$1" > "$2"
}

debian() { # ARCHITECTURE FOLDER
    mkdir "$2/DEBIAN"
    cat > "$2/DEBIAN/control" <<CONTROL
Package: tcplab
Version: $version
Architecture: $1
Maintainer: tcplab <tcplab@localhost>
Section: net
Priority: optional
Installed-Size: $(du -sk "$2/usr" | cut -f1)
Description: TCP laboratory
 tcplab says what TCP did in a packet capture and why, and answers questions
 about TCP mechanisms from an experiment file: in a simulator whose TCP sends
 what Linux sends, on real kernels in virtual time, on this machine.
CONTROL
    dpkg-deb --root-owner-group -Zxz --build "$2" "$out/tcplab_${version}_$1.deb" > /dev/null
}

hand_out() { # PROGRAM MACHINE ARCHITECTURE
    local root=$scratch/$2
    tree "$1" "$root"
    tar --owner=0 --group=0 --sort=name --mtime=@0 -C "$root/usr" -czf "$out/tcplab-$version-$2-linux.tar.gz" bin share
    debian "$3" "$root"
    bash scripts/wheel.sh "$1" "$2" "$out"
    if have umoci; then
        bash scripts/oci.sh "$1" "$version" "$out/tcplab-$version-$3.oci.tar" "$3"
    else
        say "no image: umoci is not here (Debian: apt install umoci)"
    fi
}

architecture() { # MACHINE
    case $1 in
        x86_64) echo amd64 ;;
        aarch64) echo arm64 ;;
        *) echo "$1" ;;
    esac
}

machine=$(uname -m)
hand_out "$native" "$machine" "$(architecture "$machine")"
if [ "$machine" = aarch64 ]; then
    :
elif have aarch64-linux-gnu-gcc; then
    bash scripts/static.sh aarch64
    hand_out "$native-aarch64" aarch64 arm64
else
    say "nothing for aarch64: no compiler for it here (Debian: apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
fi

(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out" | awk 'NR > 1 { printf "%10d  %s\n", $5, $9 }'
say "$out"
