//! A reader that stops and reads at an interval, as its driver sees it.

use tcplab_apps::{Program, Result, Step};
use tcplab_base::Instant;
use tcplab_plan::app::{AppKind, Reading};

/// Until its pause, then at an interval; what waits while it sleeps is read by the next read.
#[test]
fn a_slow_reader_reads_at_times_of_its_own() {
    let bulk = AppKind::Bulk {
        bytes: Some(5000),
        duration_ns: None,
        chunk: 1000,
        reverse: false,
    };
    for (pause_at, want) in [
        (
            0,
            "Until(500) Read(2000) Until(600) Read(2000) Until(700) Read(2000) Until(800) Read(2000) Close",
        ),
        (
            3000,
            "Read(2000) Until(100) Read(1000) Until(600) Read(2000) Until(700) Read(2000) Close",
        ),
    ] {
        let reading = Reading {
            bytes: 2000,
            pause_at,
            pause_ns: 500,
            every_ns: 100,
        };
        let mut left = 5000;
        let mut server = Program::server(&bulk, &reading);
        let (mut now, mut last, mut seen) = (0, Result::Done, Vec::new());
        while seen.last().is_none_or(|step| step != "Close") {
            let step = server.next(Instant::from_nanos(now), last);
            seen.push(match step {
                Step::Until(at) => {
                    (now, last) = (at.as_nanos(), Result::Done);
                    format!("Until({now})")
                }
                Step::ReadSome(most) => {
                    let got = most.min(left);
                    left -= got;
                    last = match got {
                        0 => Result::End,
                        got => Result::Got(got),
                    };
                    format!("Read({most})")
                }
                step => format!("{step:?}"),
            });
        }
        assert_eq!(seen.join(" "), want, "{pause_at}");
    }
}
