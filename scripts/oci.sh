#!/usr/bin/env bash
# Makes an OCI image of nothing but the program: oci.sh PROGRAM VERSION FILE.tar ARCHITECTURE. `podman load -i FILE.tar`, or any other
# program that reads an OCI archive.

. "$(dirname "$0")/lib.sh"

have umoci || stop "no umoci, which makes the image (Debian: apt install umoci)"
program=$1 version=$2 file=$3 architecture=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
layout=$scratch/layout
image=$layout:$version

umoci init --layout "$layout"
umoci new --image "$image"
umoci unpack --rootless --image "$image" "$scratch/bundle" 2> /dev/null
rootfs=$scratch/bundle/rootfs
install -D -m 755 "$program" "$rootfs/usr/bin/tcplab"
# For what a run keeps for a while, and for the files of whoever starts it.
mkdir -p "$rootfs/work"
install -d -m 1777 "$rootfs/tmp"
umoci repack --image "$image" "$scratch/bundle" 2> /dev/null
umoci config --image "$image" --architecture "$architecture" --config.entrypoint /usr/bin/tcplab --config.cmd=--help --config.workingdir /work
umoci gc --layout "$layout" 2> /dev/null
tar --sort=name -C "$layout" -cf "$file" .
