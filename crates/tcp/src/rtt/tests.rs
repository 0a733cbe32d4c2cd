//! Sequences of timeouts, to the microsecond before jiffies, against values that were calculated apart
//! from this code.

use super::*;

const CLOCK: Clock = Clock::new(1000, 0);

/// Each sample ends a round trip, as with a request and an answer. Gives each timeout in us.
fn timeouts(rule: &Rule, samples_ms: &[u32]) -> (Vec<u32>, Rtt) {
    let mut rtt = Rtt::new(&CLOCK, 0);
    let mut seq = Seq(u32::MAX - 5000);
    let timeouts = samples_ms
        .iter()
        .map(|ms| {
            seq = seq + 1000;
            rtt.sample(ms * 1000, seq, seq + 999, rule);
            rtt.rto_us(rule)
        })
        .collect();
    (timeouts, rtt)
}

const fn rule(averaging: RtoEstimator, floor: Floor) -> Rule {
    Rule { averaging, floor }
}

const LINUX: Rule = rule(RtoEstimator::Linux, Floor::Deviation(200_000));
const RFC_200MS: Rule = rule(RtoEstimator::Rfc6298, Floor::Timeout(200_000));
const RFC_1S: Rule = rule(RtoEstimator::Rfc6298, Floor::Timeout(1_000_000));
const RFC_DEVIATION: Rule = rule(RtoEstimator::Rfc6298, Floor::Deviation(200_000));

/// Milliseconds with three decimals, rounded as the table has them.
fn expect(rule: &Rule, samples_ms: &[u32], wanted_ms: &[f64]) -> Rtt {
    let (got, rtt) = timeouts(rule, samples_ms);
    let wanted: Vec<u32> = wanted_ms
        .iter()
        .map(|ms| (ms * 1000.0).round() as u32)
        .collect();
    assert_eq!(got, wanted, "{rule:?} {samples_ms:?}");
    rtt
}

#[test]
fn a_constant_round_trip() {
    let rtt = expect(&LINUX, &[100; 10], &[300.0; 10]);
    assert_eq!((rtt.srtt_us >> 3, rtt.mdev_us), (100_000, 15_018));
    let mut d = vec![300.0, 250.0, 212.5];
    d.extend([200.0; 7]);
    expect(&RFC_200MS, &[100; 10], &d);
    expect(&RFC_1S, &[100; 10], &[1000.0; 10]);
    expect(&RFC_DEVIATION, &[100; 10], &[300.0; 10]);
    let rtt = expect(&LINUX, &[100; 50], &[300.0; 50]);
    assert_eq!((rtt.mdev_us, rtt.rttvar_us), (3, 200_000));
}

#[test]
fn one_slow_answer_among_fast_ones() {
    let samples = [100, 100, 100, 100, 100, 300, 100, 100, 100, 100, 100];
    let mut b = vec![300.0; 5];
    b.extend([372.462, 360.121, 347.825, 338.262, 330.79, 324.924]);
    let rtt = expect(&LINUX, &samples, &b);
    assert_eq!(rtt.rttvar_us, 212_102);
    let mut d = vec![300.0, 250.0, 212.5, 200.0, 200.0];
    d.extend([372.462, 332.472, 298.963, 270.756, 246.908, 226.667]);
    let rtt = expect(&RFC_200MS, &samples, &d);
    assert_eq!(((rtt.srtt_us + 4) >> 3, rtt.mdev_us), (112_823, 113_845));
    let mut y = vec![300.0; 5];
    y.extend([372.462, 332.472, 319.14, 316.748, 314.654, 312.822]);
    expect(&RFC_DEVIATION, &samples, &y);
}

#[test]
fn a_long_round_trip_whose_deviation_decays() {
    let b = [
        1500.0, 1500.0, 1390.625, 1273.438, 1159.181, 1053.713, 965.285, 898.964,
    ];
    let rtt = expect(&LINUX, &[500; 8], &b);
    assert_eq!((rtt.mdev_us, rtt.rttvar_us), (133_485, 398_964));
    let d = [
        1500.0, 1250.0, 1062.5, 921.875, 816.407, 737.306, 677.98, 633.485,
    ];
    expect(&RFC_200MS, &[500; 8], &d);
    let y = [
        1500.0, 1250.0, 1062.5, 921.875, 816.407, 737.306, 700.0, 700.0,
    ];
    expect(&RFC_DEVIATION, &[500; 8], &y);
    let mut r = d;
    r[3..].fill(1000.0);
    expect(&RFC_1S, &[500; 8], &r);
}

/// Floors of any size, as a profile tells them: five round trips of 100 ms, one of 300 ms, five of 100 ms.
#[test]
fn each_floor_bounds_each_estimator() {
    use RtoEstimator::{Linux, Rfc6298};
    use RtoFloor::{Deviation, Timeout};
    let samples: Vec<u32> = [100, 100, 100, 100, 100, 300, 100, 100, 100, 100, 100]
        .map(|ms| ms * 1000)
        .to_vec();
    #[rustfmt::skip]
    let table = [
        (Linux, Deviation, 50, [300000, 300000, 278125, 254688, 231837, 372462, 360121, 342781, 322981, 302393, 282088]),
        (Linux, Deviation, 100, [300000, 300000, 278125, 258594, 243946, 372462, 360121, 342781, 322981, 302393, 282088]),
        (Linux, Deviation, 400, [500000, 500000, 500000, 500000, 500000, 525000, 521875, 519140, 516748, 514654, 512822]),
        (Linux, Deviation, 1000, [1100000, 1100000, 1100000, 1100000, 1100000, 1125000, 1121875, 1119140, 1116748, 1114654, 1112822]),
        (Linux, Timeout, 50, [300000, 300000, 278125, 254688, 231837, 372462, 360121, 342781, 322981, 302393, 282088]),
        (Linux, Timeout, 100, [300000, 300000, 278125, 254688, 231837, 372462, 360121, 342781, 322981, 302393, 282088]),
        (Linux, Timeout, 400, [400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000]),
        (Linux, Timeout, 1000, [1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000]),
        (Rfc6298, Deviation, 50, [300000, 250000, 212500, 184375, 163282, 372462, 332472, 298963, 270756, 246908, 226667]),
        (Rfc6298, Deviation, 100, [300000, 250000, 212500, 200000, 200000, 372462, 332472, 298963, 270756, 246908, 226667]),
        (Rfc6298, Deviation, 400, [500000, 500000, 500000, 500000, 500000, 525000, 521875, 519140, 516748, 514654, 512822]),
        (Rfc6298, Deviation, 1000, [1100000, 1100000, 1100000, 1100000, 1100000, 1125000, 1121875, 1119140, 1116748, 1114654, 1112822]),
        (Rfc6298, Timeout, 50, [300000, 250000, 212500, 184375, 163282, 372462, 332472, 298963, 270756, 246908, 226667]),
        (Rfc6298, Timeout, 100, [300000, 250000, 212500, 184375, 163282, 372462, 332472, 298963, 270756, 246908, 226667]),
        (Rfc6298, Timeout, 400, [400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000, 400000]),
        (Rfc6298, Timeout, 1000, [1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000]),
    ];
    for (rto_estimator, rto_floor, rto_floor_ms, wanted) in table {
        let profile = Profile {
            rto_estimator,
            rto_floor,
            rto_floor_ms,
            ..Profile::default()
        };
        let own = timeouts_us(&profile, 200_000, &samples);
        assert_eq!(
            own, wanted,
            "{rto_estimator:?} {rto_floor:?} {rto_floor_ms}"
        );
        // The same floor from the route or the sysctl.
        let profile = Profile {
            rto_floor_ms: 0,
            ..profile
        };
        assert_eq!(timeouts_us(&profile, rto_floor_ms * 1000, &samples), wanted);
    }
}

/// Y4: four times 200 ms, the floor on RTTVAR as RFC 6298 counts it.
#[test]
fn a_floor_of_the_unscaled_deviation() {
    let rule = rule(RtoEstimator::Rfc6298, Floor::Deviation(800_000));
    expect(&rule, &[100; 10], &[900.0; 10]);
    let mut wanted = vec![1500.0];
    wanted.extend([1300.0; 7]);
    expect(&rule, &[500; 8], &wanted);
}

#[test]
fn the_timeout_counts_whole_jiffies_and_has_an_end() {
    let mut rtt = Rtt::new(&CLOCK, 0);
    rtt.sample(1, Seq(1), Seq(2), &LINUX);
    rtt.set_rto(&CLOCK, &LINUX, 120 * CLOCK.hz);
    assert_eq!(rtt.rto, 201, "rounded up");
    let mut far = Rtt::new(&CLOCK, 0);
    far.sample(60_000_000, Seq(1), Seq(2), &LINUX);
    far.set_rto(&CLOCK, &LINUX, 120 * CLOCK.hz);
    assert_eq!(far.rto, 120_000);
    assert_eq!(Rtt::new(&CLOCK, 0).rto, 1000);
}

#[test]
fn the_minimum_forgets_after_its_window() {
    let mut rtt = Rtt::new(&CLOCK, 0);
    let window = 1000;
    rtt.update_min(window, 10, 500);
    rtt.update_min(window, 20, 700);
    assert_eq!(rtt.min[0].1, 500);
    // A quarter of the window later a second best is kept, later a third.
    rtt.update_min(window, 300, 650);
    rtt.update_min(window, 600, 600);
    assert_eq!(rtt.min[0].1, 500);
    rtt.update_min(window, 1011, 900);
    assert_eq!(rtt.min[0], (600, 600));
    rtt.update_min(window, 1012, 400);
    assert_eq!(rtt.min, [(1012, 400); 3]);
}
