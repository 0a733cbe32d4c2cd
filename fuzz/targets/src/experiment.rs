//! Experiment files, expressions over measures, distributions.

use tcplab_base::Random;
use tcplab_plan::dist::{Base, Dist, Kind};
use tcplab_plan::measure::Expression;
use tcplab_plan::{Experiment, Point};

/// A file: an error with a place, or points that JSON keeps.
pub fn experiment(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let points = match Experiment::parse("x.toml", &text) {
        Ok(experiment) => experiment.points(),
        Err(error) => Err(error),
    };
    match points {
        Ok(points) => {
            let [first, ..] = points.as_slice() else {
                panic!("an experiment without a point");
            };
            let json = serde_json::to_string(first).expect("a point has a JSON form");
            let back: Point = serde_json::from_str(&json).expect("and can be read from it");
            assert_eq!(&back, first);
        }
        Err(error) => {
            assert!(error.line() >= 1 && error.column() >= 1);
            assert!(error.to_string().len() < 8_000, "{error}");
        }
    }
}

/// An expression: an error with a place, or an answer whatever has a value.
pub fn expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Expression::parse(&text) {
        Ok(expression) => {
            let names = expression.names().len();
            let all = expression.evaluate(&|_| Some(1.0));
            assert!(all.as_ref().err().is_none_or(|why| why.missing().is_none()));
            let none = expression.evaluate(&|_| None);
            assert!(names > 0 || none == all);
        }
        Err(error) => assert!(error.column() >= 1 && error.to_string().len() < 2_000),
    }
}

/// A distribution: an error with a place, or one that its own text gives again, whose draws and mean
/// are numbers whatever the base.
pub fn distribution(data: &[u8]) {
    const BASES: [(i64, u64); 3] = [(80_000_000, 12_000_000), (i64::MAX, u64::MAX), (-1, 0)];
    let text = String::from_utf8_lossy(data);
    for kind in [
        Kind::Time,
        Kind::Size,
        Kind::Number,
        Kind::Chance,
        Kind::Buffer,
    ] {
        let dist = match Dist::parse(&text, kind) {
            Ok(dist) => dist,
            Err(error) => {
                assert!(text.get(error.start..error.end).is_some() && error.message.len() < 1_000);
                continue;
            }
        };
        let again = Dist::parse(&dist.to_string(), kind);
        assert_eq!(again.as_ref(), Ok(&dist), "{dist}");
        let mut random = Random::stream(1, "fuzz");
        for (rtt_ns, rate_bps) in BASES {
            let base = Base { rtt_ns, rate_bps };
            assert!(dist.draw(&mut random, &base) >= 0);
            assert!(!dist.mean(&base).is_some_and(f64::is_nan));
        }
    }
}
