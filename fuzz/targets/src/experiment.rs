//! Experiment files and expressions over measures.

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
