#!/bin/bash
# Builds User-Mode Linux with time travel from Debian's linux-source-6.1, for the labelled corpus.
#
#   build_kernel.sh [HZ...]        (default: 1000 250 100)   about 6 CPU minutes for each HZ
#
# The result is ~/.cache/tcplab/kernels/linux-6.1-hzNNN; a kernel that is there is not built again.
# Three edits are made to the source, by sed, all of them switched off unless asked for at boot:
#   tcplab_before_57   behaves as 6.1.56 did in two places: a segment of at least one rcv_mss with PSH does not make
#                      the read send an ACK (undoes 4720852ed9af), and each ACK costs as many quick-ACK credits as the
#                      packet that carries it has segments (undoes 059217c18be6)
#   UML_SEED=N         in the environment: random numbers come from N, so that ports and sequence numbers repeat
#   CONFIG_HZ          can be set in the configuration (User-Mode Linux has 100 wired in)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tcplab
work=${TCPLAB_KERNEL_WORK:-$cache/build}
tarball=${TCPLAB_KERNEL_SOURCE:-/usr/src/linux-source-6.1.tar.xz}
jobs=${TCPLAB_JOBS:-2}
[ $# -gt 0 ] || set -- 1000 250 100
mkdir -p "$cache/kernels" "$work"

missing=()
for p in flex bison bc make gcc xz; do command -v $p >/dev/null || missing+=("${p/xz/xz-utils}"); done
[ -e "$tarball" ] || missing+=(linux-source-6.1)
if [ ${#missing[@]} -gt 0 ]; then
    echo "installing ${missing[*]}" >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y "${missing[@]}" >&2
fi

src=$work/linux-source-6.1
if [ ! -e "$src/.tcplab-edited" ]; then
    rm -rf "$src"
    tar -C "$work" -xf "$tarball"
    cd "$src"
    # HZ becomes a question.
    sed -i '/^config HZ$/,/default/ s/^\tint$/\tint "Timer frequency"/' arch/um/Kconfig
    # Before 6.1.57: no PUSHED for a segment of one rcv_mss.
    sed -i 's/^\t\tif (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_PSH)$/\t\tif (!tcplab_before_57 \&\& (TCP_SKB_CB(skb)->tcp_flags \& TCPHDR_PSH))/' net/ipv4/tcp_input.c
    # Before 6.1.57: credits by the segments of the packet sent.
    sed -i 's/const unsigned int pkts = inet_csk_ack_scheduled(sk) ? 1 : 0;/const unsigned int pkts = tcplab_before_57 ? tcplab_sent_segs : !!inet_csk_ack_scheduled(sk);/;
            s/^static inline void tcp_dec_quickack_mode(struct sock \*sk)$/extern int tcplab_before_57, tcplab_sent_segs;\n&/' include/net/tcp.h
    sed -i 's/^\t\ttcp_event_ack_sent(sk, rcv_nxt);$/\t{\n\t\ttcplab_sent_segs = tcp_skb_pcount(skb);\n&\n\t}/' net/ipv4/tcp_output.c
    sed -i '0,/^static void tcp_measure_rcv_mss/s//int tcplab_before_57, tcplab_sent_segs;\nstatic int __init tcplab_setup(char *s)\n{\n\ttcplab_before_57 = 1;\n\treturn 1;\n}\n__setup("tcplab_before_57", tcplab_setup);\n\n&/' net/ipv4/tcp_input.c
    # Random numbers from a seed when the environment has one.
    sed -i 's/^\treturn getrandom(buf, len, flags);$/\tstatic unsigned long long s;\n\tconst char *e = getenv("UML_SEED");\n\tunsigned char *p = buf;\n\tsize_t i;\n\n\tif (!e)\n\t\treturn getrandom(buf, len, flags);\n\tif (!s)\n\t\ts = strtoull(e, 0, 10) * 2 + 1;\n\tfor (i = 0; i < len; i++) {\n\t\ts = s * 6364136223846793005ull + 1442695040888963407ull;\n\t\tp[i] = s >> 56;\n\t}\n\treturn len;/' arch/um/os-Linux/util.c
    for f in net/ipv4/tcp_input.c include/net/tcp.h net/ipv4/tcp_output.c; do
        grep -q tcplab_ $f || { echo "the edit of $f did not apply: another source?" >&2; exit 1; }
    done
    grep -q '!tcplab_before_57 &&' net/ipv4/tcp_input.c && grep -q UML_SEED arch/um/os-Linux/util.c
    touch .tcplab-edited
fi

for hz in "$@"; do
    out=$cache/kernels/linux-6.1-hz$hz
    if [ -x "$out" ]; then echo "$out is there"; continue; fi
    b=$work/um-hz$hz
    mkdir -p "$b"
    { cat "$here/uml.config"; echo "CONFIG_HZ=$hz"; } > "$b/fragment"
    cd "$src"
    make -s ARCH=um SUBARCH=x86_64 O="$b" tinyconfig
    (cd "$b" && "$src/scripts/kconfig/merge_config.sh" -m -O "$b" .config fragment >/dev/null)
    make -s ARCH=um SUBARCH=x86_64 O="$b" olddefconfig
    grep -q "^CONFIG_HZ=$hz\$" "$b/.config" || { echo "CONFIG_HZ=$hz was lost" >&2; exit 1; }
    nice make -s ARCH=um SUBARCH=x86_64 O="$b" -j"$jobs" linux
    strip -o "$out.new" "$b/linux"
    mv "$out.new" "$out"
    { echo "base $(make -s ARCH=um kernelversion)"; echo "hz $hz"; } > "$out.txt"
    [ -n "${TCPLAB_KEEP_BUILD:-}" ] || rm -rf "$b"
    echo "$out is built"
done
