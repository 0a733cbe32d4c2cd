//! Tables of the window arithmetic.

use super::cubic::{Cubic, cubic_root};

/// Values that the kernel's own function gives.
#[test]
fn cube_roots_are_those_of_the_kernel() {
    const FACTOR: u64 = (1 << 40) / 410;
    let known = [
        (0, 0),
        (1, 1),
        (7, 2),
        (8, 2),
        (27, 3),
        (63, 4),
        (64, 4),
        (65, 4),
        (100, 5),
        (511, 8),
        (512, 8),
        (1000, 10),
        (4095, 16),
        (1000000, 100),
        (123456789, 497),
        (2681735677, 1388),
        (8045207031, 2003),
        (26817356770, 2991),
        (268173567700, 6451),
        (2681735677000, 13897),
        (33106026932565, 32118),
    ];
    for (cube, root) in known {
        assert_eq!(cubic_root(cube), root, "cube root of {cube}");
    }
    let digest = |factor: u64, first: u64| {
        (first..3_000_000_u64).fold(0_u64, |sum, n| {
            sum.wrapping_mul(31)
                .wrapping_add(u64::from(cubic_root(factor * n)))
        })
    };
    assert_eq!(digest(FACTOR, 1), 7518992592254728696);
    assert_eq!(digest(1, 0), 17272620245387548417);
}

/// RFC 9438 4.6 with 717/1024, and 4.7: the maximum is lowered when the old one was not reached.
#[test]
fn cubic_remembers_the_window_of_a_loss() {
    let mut cubic = Cubic::default();
    assert_eq!(cubic.threshold(100), 70);
    assert_eq!(cubic.last_max_cwnd, 100);
    assert_eq!(cubic.threshold(80), 56);
    assert_eq!(cubic.last_max_cwnd, 68);
    assert_eq!(cubic.threshold(2), 2);
}

/// One from outside is a pointer: it makes nobody's connection larger.
#[test]
fn an_algorithm_is_small() {
    use super::Congestion;
    assert!(size_of::<Congestion>() <= 64, "{}", size_of::<Congestion>());
}
