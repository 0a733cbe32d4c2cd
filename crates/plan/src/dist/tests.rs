use tcplab_base::{Random, normal};

use super::*;

const BASE: Base = Base {
    rtt_ns: 80_000_000,
    rate_bps: 12_000_000,
};

const SIZES: &str = "(60% lognormal(median 2.5kB, sigma 0.9) | 35% lognormal(median 15kB, sigma 1) \
    | 5% lognormal(median 120kB, sigma 1.1)) clip 100B..3MB";

/// Sorted draws.
fn draws(text: &str, kind: Kind, count: usize) -> Vec<i64> {
    let dist = Dist::parse(text, kind).expect(text);
    let mut random = Random::stream(1, "dist/test");
    let mut out: Vec<i64> = (0..count).map(|_| dist.draw(&mut random, &BASE)).collect();
    out.sort_unstable();
    out
}

fn mean_of(draws: &[i64]) -> f64 {
    draws.iter().map(|x| *x as f64).sum::<f64>() / draws.len() as f64
}

/// Nearest rank.
fn at(sorted: &[i64], p: f64) -> f64 {
    sorted[((p * sorted.len() as f64).ceil() as usize).max(1) - 1] as f64
}

fn near(what: &str, got: f64, right: f64, within: f64) {
    assert!(
        (got / right - 1.0).abs() <= within,
        "{what}: {got}, not {right}"
    );
}

#[test]
fn golden_draws() {
    let texts = [
        ("80ms", Kind::Time),
        ("uniform(0.5 bdp..4 bdp)", Kind::Buffer),
        ("uniform(100ms..250ms)", Kind::Buffer),
        ("exponential(mean 2ms + 3% rtt)", Kind::Time),
        ("lognormal(median 12mbit, sigma 1.1)", Kind::Rate),
        ("pareto(minimum 1s, alpha 1.1)", Kind::Time),
        ("geometric(mean 3)", Kind::Number),
        ("table(0% 1%, 50% 2%, 100% 10%)", Kind::Chance),
        (SIZES, Kind::Size),
    ];
    let mut random = Random::stream(1, "golden");
    let drawn: Vec<[i64; 3]> = texts
        .iter()
        .map(|(text, kind)| {
            let dist = Dist::parse(text, *kind).expect(text);
            std::array::from_fn(|_| dist.draw(&mut random, &BASE))
        })
        .collect();
    // Published results depend on these: the same on every machine.
    assert_eq!(drawn, GOLDEN);
}

const GOLDEN: [[i64; 3]; 9] = [
    [80_000_000, 80_000_000, 80_000_000],
    [69_574, 104_229, 233_061],
    [308_918, 305_108, 167_311],
    [3_343_914, 4_660_358, 421_627],
    [36_179_614, 2_253_394, 5_818_711],
    [2_052_560_143, 1_144_496_724, 1_134_344_764],
    [1, 5, 6],
    [14_150_915, 29_194_797, 11_187_665],
    [41_920, 4_074, 1_548],
];

/// What facts/tcp.md 5.2 says of its population; its own values are of 400,000 draws.
#[test]
fn the_web_population_has_its_moments() {
    let rtt = draws(
        "lognormal(median 80ms, sigma 0.668) clip 5ms..1500ms",
        Kind::Time,
        400_000,
    );
    near("mean RTT", mean_of(&rtt), 99.8e6, 0.005);
    for (p, ms) in [
        (0.05, 26.6),
        (0.25, 51.0),
        (0.5, 79.9),
        (0.75, 125.4),
        (0.95, 239.0),
        (0.99, 376.0),
    ] {
        near(&format!("RTT at {p}"), at(&rtt, p), ms * 1e6, 0.012);
    }
    let sizes = draws(SIZES, Kind::Size, 400_000);
    near("mean size", mean_of(&sizes), 21.8e3, 0.015);
    for (p, kb, within) in [(0.5, 4.7, 0.015), (0.9, 40.0, 0.02), (0.99, 311.0, 0.03)] {
        near(&format!("size at {p}"), at(&sizes, p), kb * 1e3, within);
    }
    let below = |limit: i64| sizes.partition_point(|size| *size < limit) as f64 / 400_000.0;
    assert!((below(4_000) - 0.46).abs() < 0.007, "{}", below(4_000));
    assert!((below(14_481) - 0.76).abs() < 0.007, "{}", below(14_481));
    let rates = draws(
        "lognormal(median 12mbit, sigma 1.1) clip 0.2mbit..1000mbit",
        Kind::Rate,
        400_000,
    );
    near("mean rate", mean_of(&rates), 22.0e6, 0.015);
    for (p, mbit) in [(0.05, 2.0), (0.5, 12.0), (0.95, 73.0)] {
        near(&format!("rate at {p}"), at(&rates, p), mbit * 1e6, 0.025);
    }
    let requests = draws("geometric(mean 3) clip ..12", Kind::Number, 400_000);
    assert_eq!((requests[0], *requests.last().unwrap()), (1, 12));
    // 1 - (2/3)^12 of 3: the tail is cut at 12.
    near(
        "requests",
        mean_of(&requests),
        3.0 * (1.0 - (2.0_f64 / 3.0).powi(12)),
        0.005,
    );
}

/// Every form against its distribution function: the largest distance (Kolmogorov) stays below
/// 1.95 / sqrt(n), which one sample in a thousand exceeds.
#[test]
fn draws_follow_the_distribution_function() {
    let share = |x: f64, low: f64, high: f64| ((x - low) / (high - low)).clamp(0.0, 1.0);
    type Below = Box<dyn Fn(f64) -> f64>;
    let table: [(&str, Kind, Below); 8] = [
        (
            "uniform(10ms..30ms)",
            Kind::Time,
            Box::new(move |x| share(x, 1e7, 3e7)),
        ),
        (
            "uniform(0.5 bdp..4 bdp)",
            Kind::Buffer,
            Box::new(move |x| share(x, 60_000.0, 480_000.0)),
        ),
        (
            "uniform(100ms..250ms)",
            Kind::Buffer,
            Box::new(move |x| share(x, 150_000.0, 375_000.0)),
        ),
        (
            "exponential(mean 2ms + 3% rtt)",
            Kind::Time,
            Box::new(|x| 1.0 - libm::exp(-x / 4.4e6)),
        ),
        (
            "lognormal(median 250ms, sigma 0.8)",
            Kind::Time,
            Box::new(|x| normal::cdf(libm::log(x / 2.5e8) / 0.8)),
        ),
        (
            "pareto(minimum 1s, alpha 1.1) clip ..1000000s",
            Kind::Time,
            Box::new(|x| 1.0 - libm::exp(-1.1 * libm::log(x / 1e9))),
        ),
        (
            "table(0% 0, 25% 10ms, 100% 100ms)",
            Kind::Time,
            Box::new(move |x| 0.25 * share(x, 0.0, 1e7) + 0.75 * share(x, 1e7, 1e8)),
        ),
        (
            "25% uniform(0..10ms) | else uniform(10ms..30ms) + 10ms",
            Kind::Time,
            Box::new(move |x| 0.25 * share(x, 0.0, 1e7) + 0.75 * share(x, 2e7, 4e7)),
        ),
    ];
    let count = 100_000;
    for (text, kind, below) in &table {
        let mut most = 0.0_f64;
        for (i, x) in draws(text, *kind, count).iter().enumerate() {
            let right = below(*x as f64);
            let (under, over) = (i as f64 / count as f64, (i + 1) as f64 / count as f64);
            most = most.max((right - under).abs()).max((over - right).abs());
        }
        assert!(most < 1.95 / (count as f64).sqrt(), "{text}: {most}");
    }
    for (text, chances) in [
        ("uniform(1..3)", [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
        ("geometric(mean 2)", [0.5, 0.25, 0.125]),
        ("table(0% 1, 50% 1, 100% 1)", [1.0, 0.0, 0.0]),
    ] {
        let drawn = draws(text, Kind::Number, count);
        for (i, chance) in chances.iter().enumerate() {
            let seen = drawn.iter().filter(|x| **x == i as i64 + 1).count() as f64;
            let sigma = (count as f64 * chance * (1.0 - chance)).sqrt();
            let distance = (seen - count as f64 * chance).abs();
            assert!(distance <= 4.0 * sigma, "{text} {} {seen}", i + 1);
        }
    }
}

#[test]
fn means_are_those_of_the_draws() {
    for (text, kind) in [
        ("12mbit", Kind::Rate),
        ("3% rtt + 1ms", Kind::Time),
        ("uniform(100ms..250ms)", Kind::Buffer),
        ("uniform(1..4)", Kind::Number),
        ("exponential(mean 1s)", Kind::Time),
        ("exponential(mean 1s) clip 200ms..2s", Kind::Time),
        ("exponential(mean 1s) clip 1s..", Kind::Time),
        ("lognormal(median 80ms, sigma 0.668)", Kind::Time),
        (
            "lognormal(median 80ms, sigma 0.668) clip 50ms..100ms",
            Kind::Time,
        ),
        (
            "lognormal(median 80ms, sigma 0.668) clip 90ms..",
            Kind::Time,
        ),
        (
            "lognormal(median 80ms, sigma 0.668) clip ..70ms",
            Kind::Time,
        ),
        ("pareto(minimum 1s, alpha 3)", Kind::Time),
        ("pareto(minimum 1s, alpha 1.1) clip ..60s", Kind::Time),
        ("pareto(minimum 1s, alpha 1) clip 2s..60s", Kind::Time),
        ("uniform(10ms..30ms) clip 15ms..20ms", Kind::Time),
        ("geometric(mean 3) clip ..12", Kind::Number),
        ("geometric(mean 3) clip 2..4", Kind::Number),
        ("table(0% 1%, 50% 2%, 100% 10%) clip 1.5%..4%", Kind::Chance),
        ("(1s + exponential(mean 1s)) clip 1.5s..3s", Kind::Time),
        ("(exponential(mean 1s) clip 1s..) clip ..2s", Kind::Time),
        ("80ms clip 90ms..", Kind::Time),
        (SIZES, Kind::Size),
        ("geometric(mean 2.5)", Kind::Number),
        ("table(0% 1%, 50% 2%, 100% 10%)", Kind::Chance),
        ("10% 1% | 2% uniform(5%..10%) | else 0%", Kind::Chance),
        ("exponential(mean 2ms) + uniform(1ms..3% rtt)", Kind::Time),
    ] {
        let dist = Dist::parse(text, kind).expect(text);
        let mean = dist.mean(&BASE).expect(text);
        near(text, mean_of(&draws(text, kind, 400_000)), mean, 0.01);
    }
    for text in [
        "pareto(minimum 1s, alpha 1)",
        "(uniform(1s..2s) + exponential(mean 1s)) clip 2s..",
    ] {
        assert_eq!(Dist::parse(text, Kind::Time).expect(text).mean(&BASE), None);
    }
}

#[test]
fn values_and_relative_words() {
    let table = [
        ("80ms", Kind::Time, 80_000_000),
        ("3% rtt", Kind::Time, 2_400_000),
        ("0.5 rtt", Kind::Time, 40_000_000),
        ("2ms + 3% rtt", Kind::Time, 4_400_000),
        ("12mbit", Kind::Rate, 12_000_000),
        ("2.5kB", Kind::Size, 2_500),
        ("1k", Kind::Size, 1_024),
        ("3", Kind::Number, 3),
        ("2.5", Kind::Number, 3),
        ("1%", Kind::Chance, 10_000_000),
        ("2 bdp", Kind::Buffer, 240_000),
        ("50% bdp", Kind::Buffer, 60_000),
        ("100ms", Kind::Buffer, 150_000),
        ("0.5 bdp + 10ms + 15kB", Kind::Buffer, 90_000),
        ("0.1 bdp clip 15kB..", Kind::Buffer, 15_000),
        ("3ms clip ..1 % rtt", Kind::Time, 800_000),
        ("100% 7", Kind::Number, 7),
        ("( ( 7 ) )", Kind::Number, 7),
        (
            "1000000s + pareto(minimum 1s, alpha 0.01)",
            Kind::Time,
            1_000_000_000_000_000,
        ),
        ("1000000000 + 0", Kind::Number, 1_000_000_000),
    ];
    for (text, kind, right) in table {
        let dist = Dist::parse(text, kind).expect(text);
        assert_eq!(
            dist.draw(&mut Random::stream(1, ""), &BASE),
            right,
            "{text}"
        );
    }
    let constant = Dist::parse("80ms", Kind::Time).unwrap();
    assert_eq!(constant.as_constant(), Some(80_000_000));
    assert_eq!(constant, Dist::fixed(Kind::Time, 80_000_000));
    assert_eq!(
        Dist::parse("3% rtt", Kind::Time).unwrap().as_constant(),
        None
    );
    assert_eq!(Dist::constant(3), Dist::parse("3", Kind::Number).unwrap());
    assert_eq!(
        Dist::fixed(Kind::Chance, i64::MAX).as_constant(),
        Some(1_000_000_000)
    );
    assert_eq!(Dist::fixed(Kind::Size, -1).as_constant(), Some(0));
}

#[test]
fn canonical_text() {
    let table = [
        ("1500us", Kind::Time, "1.5ms"),
        (" 3 % rtt+2ms ", Kind::Time, "2ms + 3% rtt"),
        (
            "1ms + exponential(mean 1ms) + 2ms",
            Kind::Time,
            "3ms + exponential(mean 1ms)",
        ),
        (
            "0.5 bdp + 100ms + 1k",
            Kind::Buffer,
            "1.024kB + 0.5 bdp + 100ms",
        ),
        ("60% 1% | else 0%", Kind::Chance, "60% 1% | 40% 0"),
        (
            "60% 3 | 40% (50% 1 | 50% 2)",
            Kind::Number,
            "60% 3 | 40% (50% 1 | 50% 2)",
        ),
        (
            "(1ms + 1% rtt) clip 2ms..",
            Kind::Time,
            "(1ms + 1% rtt) clip 2ms..",
        ),
        (
            "1ms + 1% rtt clip 2ms..3 s",
            Kind::Time,
            "1ms + 1% rtt clip 2ms..3s",
        ),
        ("200kbit", Kind::Rate, "200kbit"),
        (
            "geometric ( mean 2.50 ) clip ..12",
            Kind::Number,
            "geometric(mean 2.5) clip ..12",
        ),
        (
            "table(0%1ms,100%2ms)",
            Kind::Time,
            "table(0% 1ms, 100% 2ms)",
        ),
    ];
    for (text, kind, right) in table {
        let dist = Dist::parse(text, kind).expect(text);
        assert_eq!(dist.to_string(), right);
        assert_eq!(Dist::parse(right, kind).expect(right), dist);
    }
}

/// What is wrong, its kind, the place that is marked, and a part of what is said.
const ERRORS: &[(&str, Kind, &str, &str)] = &[
    ("", Kind::Time, "", "it is empty: write a value"),
    ("80", Kind::Time, "80", "write a number and ns, us, ms"),
    ("80ms 3", Kind::Time, "3", "unexpected here"),
    ("80ms)", Kind::Time, ")", "no matching"),
    ("-80ms", Kind::Time, "-", "negative values are not"),
    (".5ms", Kind::Time, ".", "write 0.5"),
    ("80ms; 3", Kind::Time, ";", "`;` is not part"),
    ("2000000s", Kind::Time, "2000000s", "more than 1000000s"),
    (
        "1000000s + 1ns",
        Kind::Time,
        "1000000s + 1ns",
        "sum is too large",
    ),
    (
        "lognormal(median 80ms)",
        Kind::Time,
        ")",
        "`, sigma` and a number",
    ),
    (
        "lognormal(mean 80ms, sigma 1)",
        Kind::Time,
        "mean",
        "`median` is missing",
    ),
    (
        "lognormal(median 80ms, sigma 11)",
        Kind::Time,
        "11",
        "from 0 to 10",
    ),
    (
        "lognormal(median 80ms, sigma x)",
        Kind::Time,
        "x",
        "a number without a unit",
    ),
    (
        "pareto(minimum 1s, alpha 0)",
        Kind::Time,
        "0",
        "from 0.01 to 1000",
    ),
    (
        "lognornal(median 1s)",
        Kind::Time,
        "lognornal",
        "did you mean `lognormal`",
    ),
    (
        "weibull(1)",
        Kind::Time,
        "weibull",
        "is not a distribution: write",
    ),
    ("exponential 3ms", Kind::Time, "3", "`(` follows"),
    ("exponential(mean 3ms", Kind::Time, "", "expected `)`"),
    ("uniform(3ms..2ms)", Kind::Time, "3ms..2ms", "swap them"),
    (
        "uniform(1.5..2)",
        Kind::Number,
        "1.5..2",
        "two whole numbers",
    ),
    ("uniform(1ms)", Kind::Time, ")", "`..` between"),
    ("1ms clip", Kind::Time, "", "`..` between"),
    ("1ms clip ..", Kind::Time, "clip ..", "at least one end"),
    (
        "1ms clip 2ms..1ms",
        Kind::Time,
        "clip 2ms..1ms",
        "swap them",
    ),
    (
        "geometric(mean 0.5)",
        Kind::Number,
        "0.5",
        "from 1 to 1000000",
    ),
    (
        "geometric(mean 2)",
        Kind::Time,
        "geometric",
        "plain numbers; here, write",
    ),
    (
        "table(1% 1ms, 100% 2ms)",
        Kind::Time,
        "1%",
        "ascend from 0%",
    ),
    ("table(0% 1ms, 0% 2ms)", Kind::Time, "0%", "ascend from 0%"),
    ("table(0% 1ms, 50% 2ms)", Kind::Time, ")", "value at 100%"),
    (
        "table(0% 3ms, 100% 2ms)",
        Kind::Time,
        "100% 2ms",
        "swap them",
    ),
    ("table(0 3ms)", Kind::Time, "0", "write a percentage"),
    (
        "60% 1ms | 30% 2ms",
        Kind::Time,
        "60% 1ms | 30% 2ms",
        "add to 90%",
    ),
    ("60% 1ms", Kind::Time, "60% 1ms", "add to 60%"),
    ("60% 1ms | 50% 2ms | else 1s", Kind::Time, "", "add to 110%"),
    ("1ms | 2ms", Kind::Time, "2ms", "each part of a mixture"),
    ("60% 1ms | 2ms", Kind::Time, "2ms", "each part of a mixture"),
    (
        "else 1ms | 40% 2ms",
        Kind::Time,
        "else",
        "`else` must be the last",
    ),
    (
        "3% rtt",
        Kind::Size,
        "3% rtt",
        "`rtt` is allowed for times only; here, write bytes",
    ),
    ("2 bdp", Kind::Time, "2 bdp", "buffer sizes only"),
    ("2ms rtt", Kind::Time, "2ms rtt", "is no number"),
    ("1001 bdp", Kind::Buffer, "1001 bdp", "more than 1000 bdp"),
    (
        "0.00000001% rtt",
        Kind::Time,
        "0.00000001% rtt",
        "seven decimals",
    ),
    ("1% + ", Kind::Chance, "", "missing at the end"),
    (
        "1ms + uniform(..2ms)",
        Kind::Time,
        "..",
        "a part: \"50% rtt\"",
    ),
    ("((((((((((((((((( 1", Kind::Number, "(", "16 deep"),
];

#[test]
fn errors_say_where_and_the_way_out() {
    for (text, kind, place, why) in ERRORS {
        let error = Dist::parse(text, *kind).expect_err(text);
        assert!(error.message.contains(why), "{text}: {error}");
        let marked = text.get(error.start..error.end).expect(text);
        if !place.is_empty() {
            assert_eq!(marked, *place, "{text}: {error}");
        }
    }
    let long = "1ms + ".repeat(1_000);
    let error = Dist::parse(&long, Kind::Time).unwrap_err();
    assert!(error.message.contains("at most 4096 bytes"));
}
