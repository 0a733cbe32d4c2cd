//! Outputs of other tools, and what is made of them.

use tcplab_compare::import::{Format, ImportError, Input, read};
use tcplab_compare::{Metrics, Options, Verdict, compare};

/// A file, by its content and as each format: an error with a way out, or arms that JSON keeps and that do not differ from
/// themselves.
pub fn metrics(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let input = Input {
        name: "x",
        text: &text,
    };
    looked_at(read(&input, None));
    for name in Format::names() {
        looked_at(read(&input, Format::named(name)));
    }
}

fn looked_at(read: Result<Metrics, ImportError>) {
    let document = match read {
        Ok(document) => document,
        Err(error) => {
            assert!(!error.what.is_empty() && !error.way_out.is_empty());
            assert!(error.to_string().starts_with('x') && error.to_string().len() < 8_000);
            return;
        }
    };
    let json = serde_json::to_string(&document).expect("metrics have a JSON form");
    let back: Metrics = serde_json::from_str(&json).expect("and can be read from it");
    assert_eq!(back.arms.len(), document.arms.len());
    for arm in document.arms.iter().take(3) {
        let itself = compare(arm, arm, &Options::default());
        let decided = [
            Verdict::Worse,
            Verdict::Better,
            Verdict::Higher,
            Verdict::Lower,
        ];
        assert!(
            itself
                .rows
                .iter()
                .all(|row| !decided.contains(&row.verdict))
        );
        serde_json::to_string(&itself).expect("a comparison has a JSON form");
    }
}
