//! Hints and the window against values computed by hand (docs/caqm.md).

use super::Caqm;
use super::hint::Ask;
use crate::sysctl::Sysctl;

/// 200 us in 1/8 us: the standard round-trip time.
const STANDARD: u32 = 1600;

fn ask(sysctl: &Sysctl, cwnd: u32, srtt: u32) -> Ask<'_> {
    Ask {
        sysctl,
        cwnd,
        srtt,
        narrow: false,
    }
}

fn avoiding() -> Caqm {
    Caqm {
        avoids: true,
        ..Caqm::default()
    }
}

/// The first `n` hints at this window.
fn hints(cwnd: u32, srtt: u32, n: usize) -> Vec<u8> {
    let sysctl = Sysctl::default();
    let mut caqm = avoiding();
    (0..n)
        .map(|_| caqm.hint(ask(&sysctl, cwnd, srtt)))
        .collect()
}

#[test]
fn slow_start_asks_for_a_packet() {
    let mut sysctl = Sysctl::default();
    let mut caqm = Caqm::default();
    assert_eq!(caqm.hint(ask(&sysctl, 10, STANDARD)), 128);
    // 9,000 bytes in units of 8 do not fit into eight bits; the kernel keeps the low ones.
    sysctl.sysctl_caqm_mtu_unit = 9000;
    assert_eq!(caqm.hint(ask(&sysctl, 10, STANDARD)), 255);
    let narrow = Ask {
        narrow: true,
        ..ask(&sysctl, 10, STANDARD)
    };
    assert_eq!(caqm.hint(narrow), (9000_u32 / 8) as u8);
}

/// H = 1024 x (RTT / 200 us) / (8 x cwnd), the fraction carried on.
#[test]
fn congestion_avoidance_asks_for_a_packet_a_round_trip() {
    assert_eq!(hints(1, STANDARD, 2), [128, 128]);
    // 12.8, less what twenty bits cut off: four of five are 13, the first round one short.
    let ten = [12, 13, 13, 13, 12, 13, 13, 13, 13, 12];
    assert_eq!(hints(10, STANDARD, 10), ten);
    assert_eq!(hints(128, STANDARD, 2), [1, 1]);
    for cwnd in [3_u32, 100, 1000, 5000] {
        let n = 8 * cwnd as usize;
        let sum: u64 = hints(cwnd, STANDARD, n).iter().map(|&h| u64::from(h)).sum();
        // Eight round trips ask for eight packets of 1,024 bytes, less what a carry still holds and what the fraction's
        // twenty bits cut off.
        assert!((1023..=1024).contains(&sum), "{cwnd}: {sum}");
    }
    // 0.128 a packet: a one after every 7.8.
    let ones: Vec<usize> = hints(1000, STANDARD, 24)
        .iter()
        .enumerate()
        .filter_map(|(at, &hint)| (hint == 1).then_some(at + 1))
        .collect();
    assert_eq!(ones, [8, 16, 24]);
}

/// Only a round-trip time between a quarter and four times the standard one counts, both excluded.
#[test]
fn round_trip_times_far_from_the_standard_do_not_count() {
    for (srtt, right) in [
        (400, 128),
        (401, 32),
        (800, 64),
        (1599, 127),
        (6399, 255),
        (6400, 128),
        (0, 128),
        (u32::MAX, 128),
    ] {
        assert_eq!(hints(1, srtt, 1), [right], "{srtt}");
    }
}

#[test]
fn cut_hint_leaves_the_carry_alone() {
    let sysctl = Sysctl {
        sysctl_caqm_alpha_fx_8: 32_767,
        ..Sysctl::default()
    };
    let mut caqm = Caqm {
        carry: 77,
        ..avoiding()
    };
    assert_eq!(caqm.hint(ask(&sysctl, 1, STANDARD)), 255);
    assert_eq!(caqm.carry, 77);
}

/// Windows of which the kernel's 32 bits know nothing.
#[test]
fn large_windows_and_alphas_do_not_wrap() {
    let sysctl = Sysctl {
        sysctl_caqm_alpha_fx_8: 700,
        ..Sysctl::default()
    };
    let at = |cwnd, srtt, narrow| {
        let mut caqm = avoiding();
        let asked = Ask {
            narrow,
            ..ask(&sysctl, cwnd, srtt)
        };
        (0..1000).map(|_| u64::from(caqm.hint(asked))).sum::<u64>()
    };
    // 700 / 8 x 1024 x 3.9 / (8 x 335,545) = 0.13.
    assert_eq!(at(335_545, 6240, false), 130);
    assert!(at(335_545, 6240, true) > 1000, "the kernel's wraps");
    // Where nothing wraps both agree.
    let plain = Sysctl::default();
    for cwnd in [1, 7, 100, 9999, 335_000] {
        let mut pair = [avoiding(), avoiding()];
        for _ in 0..100 {
            let [wide, narrow] = [0, 1].map(|n| {
                pair[n].hint(Ask {
                    narrow: n == 1,
                    ..ask(&plain, cwnd, STANDARD)
                })
            });
            assert_eq!(wide, narrow, "{cwnd}");
        }
    }
}

/// Grants become packets of 1,024 bytes towards zero, the rest is kept.
#[test]
fn grants_add_up_to_packets() {
    let mut caqm = avoiding();
    let got: Vec<i64> = [1000, 24, -1, -1023, -512, -512, 2048 + 512]
        .map(|bytes| caqm.packets(bytes, 1024))
        .into();
    assert_eq!(got, [0, 1, 0, -1, 0, -1, 2]);
    assert_eq!(caqm.granted, 512);
}
