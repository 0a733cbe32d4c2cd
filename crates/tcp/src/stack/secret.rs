//! What a host must not let others guess: initial sequence numbers, time stamp offsets, ports (RFC 6528, RFC 6056
//! algorithm 3; Linux `secure_tcp_seq_and_ts_off()`, `secure_ipv4_port_ephemeral()`).
//!
//! All come from SipHash-2-4 with the host's secret as its key, so the same run has the same numbers.

use tcplab_base::{Instant, Seq};

use crate::segment::Addr;

/// SipHash-2-4 (Aumasson and Bernstein, 2012) of two words of 64 bits.
pub(crate) fn siphash(key: u64, words: [u64; 2]) -> u64 {
    let keys = [key, key.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15];
    siphash_of(keys, words.into_iter(), 16)
}

/// The same of any number of whole words, `len` bytes together.
#[inline]
pub(crate) fn siphash_of([k0, k1]: [u64; 2], words: impl Iterator<Item = u64>, len: usize) -> u64 {
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    for word in words.chain([(len as u64) << 56]) {
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

/// Both ends in one word.
pub(crate) fn ends(local: Addr, remote: Addr) -> u64 {
    u64::from(local.host) << 48
        | u64::from(local.port) << 32
        | u64::from(remote.host) << 16
        | u64::from(remote.port)
}

/// The initial sequence number and the offset of time stamps of a connection. `timestamps` is the sysctl: only 1
/// gives each connection its own offset.
pub(crate) fn seq_and_ts_off(
    secret: u64,
    local: Addr,
    remote: Addr,
    now: Instant,
    timestamps: u8,
) -> (Seq, u32) {
    let hash = siphash(secret, [ends(local, remote), 1]);
    // RFC 6528 3: a clock of 64 ns is added.
    let clock = (now.as_nanos() >> 6) as u32;
    let ts_off = match timestamps {
        1 => (hash >> 32) as u32,
        _ => 0,
    };
    (Seq((hash as u32).wrapping_add(clock)), ts_off)
}

/// Where the search for a free port begins.
pub(crate) fn port_offset(
    secret: u64,
    local_host: u16,
    remote: Addr,
    jiffies: u64,
    hz: u32,
) -> u64 {
    let local = Addr {
        host: local_host,
        port: 0,
    };
    // EPHEMERAL_PORT_SHUFFLE_PERIOD: 10 s.
    let period = jiffies / (10 * u64::from(hz.max(1)));
    siphash(secret, [ends(local, remote), period << 8 | 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Addr = Addr {
        host: 1,
        port: 40_000,
    };
    const B: Addr = Addr { host: 2, port: 80 };

    #[test]
    fn numbers_differ_by_connection_and_secret_and_move_with_the_clock() {
        let at = |secret, a, ns| seq_and_ts_off(secret, a, B, Instant::from_nanos(ns), 1);
        let other = Addr { port: 40_002, ..A };
        assert_ne!(at(1, A, 0), at(1, other, 0));
        assert_ne!(at(1, A, 0), at(2, A, 0));
        let (first, off) = at(1, A, 0);
        let (later, same) = at(1, A, 64_000);
        assert_eq!(later - first, 1000);
        assert_eq!(off, same);
        assert_eq!(seq_and_ts_off(1, A, B, Instant::from_nanos(0), 2).1, 0);
    }

    /// The low and the high bytes of many numbers are spread evenly: chi-square of 256 bins stays within five
    /// standard deviations.
    #[test]
    fn numbers_are_spread_evenly() {
        let mut bins = [[0_u32; 256]; 2];
        for n in 0..65_536_u32 {
            let from = Addr {
                host: 1,
                port: n as u16,
            };
            let seq = seq_and_ts_off(7, from, B, Instant::from_nanos(0), 1).0.0;
            bins[0][(seq & 255) as usize] += 1;
            bins[1][(seq >> 24) as usize] += 1;
        }
        for bin in bins {
            let chi: f64 = bin
                .iter()
                .map(|&n| (f64::from(n) - 256.0).powi(2) / 256.0)
                .sum();
            assert!((142.0..368.0).contains(&chi), "chi-square {chi}");
        }
    }
}
