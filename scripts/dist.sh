#!/usr/bin/env bash
# Makes what is handed out, in target/dist: the static program with manual pages, completions and examples as a tar
# archive, a Debian package, a Python wheel and an OCI image; and their checksums.

. "$(dirname "$0")/lib.sh"

bash "$(dirname "$0")/static.sh"
program=$TARGET/static/tcplab
version=$("$program" --version | awk '{ print $2 }')
machine=$(uname -m)
out=$TARGET/dist-out
rm -rf "$out"
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The files as a Debian machine has them: the archive has the same.
root=$scratch/root
install -D -m 755 "$program" "$root/usr/bin/tcplab"
mkdir -p "$root/usr/share/man/man1"
"$program" man --out "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*
completion() { # SHELL FILE
    mkdir -p "$(dirname "$root/$2")"
    "$program" completions "$1" > "$root/$2"
}
completion bash usr/share/bash-completion/completions/tcplab
completion zsh usr/share/zsh/vendor-completions/_tcplab
completion fish usr/share/fish/vendor_completions.d/tcplab.fish
doc=$root/usr/share/doc/tcplab
mkdir -p "$doc/examples"
cp LICENSE-MIT LICENSE-APACHE README.md "$doc"
cp examples/*.toml "$doc/examples"
# Debian's policy wants the licence under this name.
cat LICENSE-MIT > "$doc/copyright"

tar --owner=0 --group=0 --sort=name --mtime=@0 -C "$root/usr" -czf "$out/tcplab-$version-$machine-linux.tar.gz" bin share

case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) architecture=$machine ;;
esac
mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/control" <<CONTROL
Package: tcplab
Version: $version
Architecture: $architecture
Maintainer: tcplab <tcplab@localhost>
Section: net
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: TCP laboratory
 tcplab says what TCP did in a packet capture and why, and answers questions
 about TCP mechanisms from an experiment file: in a simulator whose TCP sends
 what Linux sends, on real kernels in virtual time, on this machine.
CONTROL
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/tcplab_${version}_$architecture.deb" > /dev/null

python3 scripts/wheel.py "$program" "$version" "$machine" "$out"
if have umoci; then
    bash scripts/oci.sh "$program" "$version" "$out/tcplab-$version-$architecture.oci.tar"
else
    say "no image: umoci is not here (Debian: apt install umoci)"
fi

(cd "$out" && sha256sum -- * > SHA256SUMS)
ls -l "$out" | awk 'NR > 1 { printf "%10d  %s\n", $5, $9 }'
say "$out"
