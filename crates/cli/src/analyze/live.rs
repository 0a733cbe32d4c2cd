//! `-i INTERFACE`: the same analysis on frames as they come, until Ctrl-C or `--for`.
#![expect(
    clippy::disallowed_methods,
    reason = "a live capture ends by the clock on the wall"
)]

use std::io;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tcplab_analyze::Analyzer;
use tcplab_analyze::report::{ReadError, Totals};
use tcplab_os::Stop;
use tcplab_os::live::{Error, Live, Stamps};
use tcplab_os::say;

use crate::analyze::run::{self, Take};
use crate::args::AnalyzeArgs;
use crate::failure::Failure;

/// Longest time between two looks at the clock and at the wish to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// A live capture.
pub struct Source {
    /// `interface:NAME`.
    pub name: String,
    live: Live,
    stop: Stop,
    duration: Option<Duration>,
}

impl Source {
    /// Opens the interface.
    pub fn open(interface: &str, duration: Option<Duration>) -> Result<Self, Failure> {
        let _stamps = Stamps::on();
        let live = Live::open(interface, PATIENCE).map_err(|e| match e {
            Error::NotAllowed { .. } | Error::NotLinux => Failure::cannot_run(e.to_string()),
            Error::NoInterface { .. } | Error::Down { .. } | Error::Os(_) => {
                Failure::input(e.to_string())
            }
        })?;
        let stop = Stop::on_signals()
            .map_err(|e| Failure::cannot_run(format!("cannot wait for Ctrl-C: {e}")))?;
        Ok(Self {
            name: format!("interface:{interface}"),
            live,
            stop,
            duration,
        })
    }

    /// Captures and analyses until the end.
    pub fn run(&mut self, args: &AnalyzeArgs, take: &mut Take<'_>) -> io::Result<Totals> {
        let mut analyzer = Analyzer::new(run::options(args)).only(&args.stream);
        let mut parser = run::parser(args);
        let begin = Instant::now();
        let bar = self.announce();
        let mut number = 0;
        let mut error = None;
        let mut is_over = false;
        loop {
            if !is_over && !self.goes_on(begin) {
                is_over = true;
                // What the kernel holds came in time, and is read; if it cannot be stopped, nothing more is.
                if self.live.stop().is_err() {
                    break;
                }
            }
            let frame = match self.live.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => match is_over && self.live.is_drained() {
                    true => break,
                    false => continue,
                },
                Err(e) => {
                    error = Some(ReadError {
                        offset: 0,
                        message: format!("the interface failed after {number} frames: {e}"),
                    });
                    break;
                }
            };
            number += 1;
            parser.frame(frame.link, frame.data, frame.orig_len);
            analyzer.feed(number, Some(frame.time), &parser);
            if let Some(bar) = &bar {
                bar.set_position(number);
            }
            analyzer.drain(&mut *take)?;
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        analyzer.finish();
        analyzer.drain(take)?;
        let mut totals = analyzer.totals().clone();
        totals.dropped = self.live.dropped().into();
        totals.error = error;
        Ok(totals)
    }

    fn goes_on(&self, begin: Instant) -> bool {
        !self.stop.wanted() && self.duration.is_none_or(|d| begin.elapsed() < d)
    }

    /// Says what is going on, and how it ends.
    fn announce(&self) -> Option<ProgressBar> {
        let end = match self.duration {
            Some(d) => format!("for {d:?}, or until Ctrl-C"),
            None => "until Ctrl-C".into(),
        };
        say(&format!("tcplab: capturing from {} {end}", self.name));
        crate::progress::is_for_people().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} frames, {elapsed}") {
                bar.set_style(style);
            }
            bar
        })
    }
}
