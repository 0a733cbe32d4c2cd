//! One script with all that its run needs, and what its run gave, as data between processes.

use serde::{Deserialize, Serialize};
use tcplab_drill::IpMode;
use tcplab_drill::run::{Report, Verdict};

/// A script to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Its text.
    pub text: String,
    /// The text of the `defaults.sh` that it names.
    pub defaults: Option<String>,
    /// The mode.
    pub mode: IpMode,
    /// Options of the command line, without the dashes.
    pub options: Vec<(String, Option<String>)>,
    /// Symbols of the command line.
    pub defines: Vec<(String, String)>,
    /// Everything that happened is wanted of a script that passes too.
    pub with_entries: bool,
}

/// A report on its way between processes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written {
    /// The case's number in its job.
    pub(super) number: usize,
    pub(super) report: Report,
}

impl Written {
    /// A report, with what happened or without.
    pub(super) fn new(number: usize, mut report: Report, with_entries: bool) -> Self {
        if !with_entries && !matches!(report.verdict, Verdict::Fail(_)) {
            report.entries.clear();
        }
        Self { number, report }
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;
    use tcplab_drill::run::{Entry, What};
    use tcplab_drill::script::Direction;

    use super::*;

    #[test]
    fn reports_go_there_and_back() {
        let packet = What::Packet {
            direction: Direction::Out,
            bytes: vec![0x45, 0, 0xff],
            len: 1500,
            text: "> .".into(),
        };
        let entries = vec![
            Entry {
                at: Instant::from_nanos(-1),
                line: 7,
                what: packet,
            },
            Entry {
                at: Instant::from_nanos(5),
                line: 0,
                what: What::Note("x".into()),
            },
        ];
        let report = Report {
            verdict: Verdict::Skip {
                line: 3,
                why: "needs shell".into(),
            },
            entries,
        };
        let text = serde_json::to_string(&Written::new(4, report.clone(), true)).unwrap();
        let back: Written = serde_json::from_str(&text).unwrap();
        assert_eq!(back.number, 4);
        assert_eq!(back.report, report);
        assert_eq!(Written::new(0, report, false).report.entries, []);
    }

    #[test]
    fn cases_go_there_and_back() {
        let case = Case {
            text: "0 `x`".into(),
            defaults: None,
            mode: IpMode::Mapped,
            options: vec![("mss".into(), Some("1".into())), ("debug".into(), None)],
            defines: vec![("A".into(), "B".into())],
            with_entries: true,
        };
        let text = serde_json::to_string(&case).unwrap();
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }
}
