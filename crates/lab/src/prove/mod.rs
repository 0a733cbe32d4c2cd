//! `tcplab analyze --prove`: the experiment of a finding.
//!
//! What the programs of a captured connection wrote, and when, is repeated on the model: as it was, and with each cure of
//! the finding. The analyser reads the captures of these runs as it read the user's. The finding has to be there without
//! a cure, with a figure like the captured one; what a cure makes of it is the proof. What cannot be repeated has its
//! reason.
//!
//! Left out: the path's behaviour except its round trip (rate, queues, losses), the time of reads, and the hosts'
//! other work.

mod conversation;
mod figure;
mod table;
#[cfg(test)]
mod tests;
mod text;

use tcplab_analyze::findings::proof::{Cure, Outcome, Proof};
use tcplab_analyze::findings::{Finding, Id};
use tcplab_analyze::report::{Stream, Vantage};
use tcplab_analyze::trace::{Row, Rows, StreamTrace};
use tcplab_base::quantity::micros;
use tcplab_os::Scratch;
use tcplab_plan::{Experiment as File, Point};

use crate::error::LabError;
use crate::packets::{Heard, heard};
use crate::stack::Lab;
use conversation::{Conversation, End};
use figure::{Burst, Figure};
use table::{Does, Experiment, How};

pub use conversation::{MOST_MESSAGES, MOST_ROWS};

/// The hosts of the experiment.
const HOSTS: [&str; 2] = ["client", "server"];
/// The variant without a cure.
const AS_IS: &str = "as-is";

/// A finding and the connection that it is about.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The connection.
    pub stream: &'a Stream,
    /// Its first packets, [`MOST_ROWS`] at most.
    pub trace: &'a StreamTrace,
}

/// Why findings of this name have no experiment; nothing when they have one.
pub fn why_not(id: Id) -> Option<&'static str> {
    match table::how(id.name()) {
        How::Try(_) => None,
        How::Cannot(why) => Some(why),
    }
}

/// Runs the experiment of a finding. If anything goes wrong, the proof says why it is not one.
pub fn prove(lab: &Lab, seen: &Seen<'_>) -> Proof {
    let experiment = match table::how(seen.finding.id.name()) {
        How::Try(experiment) => experiment,
        How::Cannot(why) => return Proof::none(why),
    };
    let case = match Case::of(seen, &experiment) {
        Ok(case) => case,
        Err(why) => return Proof::none(why),
    };
    case.run(lab).unwrap_or_else(|e| Proof {
        reason: Some(format!("the experiment could not be run: {e}")),
        ..case.unfinished()
    })
}

/// Each super-segment has PSH, as the end of a write has: an experiment of such writes would deny the right cure.
const SUPER_SEGMENTS: &str = "the capture has packets larger than the MSS, so writes of the sender's program cannot be told \
     from parts of a transfer; capture at the receiver, or with `ethtool -K DEVICE tso off gso off` on the sender";

/// What the program wrote was read wrongly, or the finding was not what the time went to.
const GONE: &str = "a cure removes the finding on the model, but the writes as read from the capture do not show what it \
     saves: run an experiment with your program's writes";

/// Whether a side sent packets larger than the MSS.
fn sends_super_segments(rows: &[Row], sender: End, mss: u16) -> bool {
    let mut own = rows
        .iter()
        .filter(|row| usize::from(!row.from_client) == sender);
    own.any(|row| u64::from(row.len) > u64::from(mss))
}

/// A finding whose conversation is known.
struct Case<'a> {
    seen: &'a Seen<'a>,
    experiment: &'a Experiment,
    /// The side whose data waited.
    sender: End,
    figure: Figure,
    /// The bursts of the sender; nothing where ACKs are compared.
    bursts: Vec<Burst>,
    captured: Vec<u64>,
    text: String,
}

/// What a run showed.
struct Showed {
    heard: Heard,
    /// The finding was there.
    found: bool,
}

impl<'a> Case<'a> {
    fn of(seen: &'a Seen<'a>, experiment: &'a Experiment) -> Result<Self, String> {
        let talk = Conversation::of(seen.stream, seen.trace)?;
        let rows: Vec<Row> = covered(&seen.trace.rows, talk.last_frame);
        let lacks = || match talk.cut {
            Some(cut) => format!("{cut} (replayed up to packet {})", talk.last_frame),
            None => "the finding lies outside the part that could be replayed".to_owned(),
        };
        let sender = sender(seen.finding, &rows).ok_or_else(lacks)?;
        let super_segments = sends_super_segments(&rows, sender, talk.mss);
        for figure in experiment.figures {
            if *figure == Figure::Transfers && super_segments {
                return Err(SUPER_SEGMENTS.to_owned());
            }
            let bursts = match figure {
                Figure::Acks => Vec::new(),
                _ => figure::bursts(&talk, sender, *figure),
            };
            let bursts = figure::own(bursts, seen.finding, &rows, sender, *figure);
            let captured = values(&rows, &rows, sender, &bursts, *figure);
            if !captured.is_empty() {
                let text = text::write(seen, &talk, sender, *figure, experiment);
                return Ok(Self {
                    seen,
                    experiment,
                    sender,
                    figure: *figure,
                    bursts,
                    captured,
                    text,
                });
            }
        }
        Err(lacks())
    }

    /// What is known before anything has run.
    fn unfinished(&self) -> Proof {
        Proof {
            figure: Some(self.figure.words(self.captured.len())),
            captured_us: figure::median(self.captured.clone()),
            assumes: self.figure.assumes().map(str::to_owned),
            experiment: Some(self.text.clone()),
            ..Proof::default()
        }
    }

    fn run(&self, lab: &Lab) -> Result<Proof, LabError> {
        let wrong = |e: &dyn std::fmt::Display| LabError::Wrong(e.to_string());
        let file = File::parse("proof.toml", &self.text).map_err(|e| wrong(&e))?;
        let points = file.points().map_err(|e| wrong(&e))?;
        let stack = self.experiment.stack;
        let before = self.showed(lab, &points, AS_IS, stack)?;
        let rows = &before.heard.trace.rows;
        let values = |after: &[Row]| values(rows, after, self.sender, &self.bursts, self.figure);
        let all = values(rows);
        let count = all.len();
        let before_us = figure::median(all);
        let mut proof = Proof {
            outcome: Outcome::NotReproduced,
            stack: Some(stack.to_owned()),
            before_us,
            ..self.unfinished()
        };
        proof.reason = self.differs(&before, proof.captured_us, before_us);
        if proof.reason.is_some() {
            return Ok(proof);
        }
        proof.figure = Some(self.figure.words(count));
        for cure in self.experiment.cures {
            let stack = match cure.does {
                Does::Stack(stack) => stack,
                _ => stack,
            };
            let after = self.showed(lab, &points, cure.variant, stack)?;
            proof.cures.push(Cure {
                change: text::ends(cure.words, self.addresses(), self.sender),
                variant: cure.variant.to_owned(),
                stack: stack.to_owned(),
                after_us: figure::median(values(&after.heard.trace.rows)),
                gone: !after.found,
            });
        }
        let any = |helps: &dyn Fn(&Cure) -> bool| proof.cures.iter().any(helps);
        if any(&|cure| proof.helps(cure)) {
            proof.outcome = Outcome::Proved;
        } else if any(&|cure| proof.is_smaller(cure)) {
            proof.outcome = Outcome::Reduced;
        } else {
            let why = match any(&|cure| cure.gone) {
                true => GONE,
                false => "no cure makes the figure smaller on the model",
            };
            proof.reason = Some(why.to_owned());
        }
        Ok(proof)
    }

    /// Why the run without a cure is not what the capture shows.
    fn differs(&self, run: &Showed, captured: Option<u64>, before: Option<u64>) -> Option<String> {
        if !run.found {
            return Some(
                "the model does not show the finding with these sizes and pauses".to_owned(),
            );
        }
        let (Some(captured), Some(before)) = (captured, before) else {
            return Some("the model shows the finding elsewhere in the conversation".to_owned());
        };
        // Linux's timer waits 40 ms or 200 ms, and ticks make 10 ms of difference; half or twice as long is another one.
        let alike = before <= captured * 2 && captured <= before * 2;
        (!alike).then(|| {
            format!(
                "the capture shows {} and the model {}: another timer, or another stack",
                micros(captured),
                micros(before)
            )
        })
    }

    /// Runs one variant and has the analyser read what was captured where the user's capture was taken.
    fn showed(
        &self,
        lab: &Lab,
        points: &[Point],
        variant: &str,
        stack: &str,
    ) -> Result<Showed, LabError> {
        let is_it = |point: &&Point| point.axes.get("variant").is_some_and(|v| v == variant);
        let point = points.iter().find(is_it);
        let point = point.ok_or_else(|| LabError::Wrong(format!("no variant {variant}")))?;
        let folder = Scratch::new().map_err(LabError::at(&std::env::temp_dir()))?;
        let stack = lab.stack(stack)?;
        lab.run_one(point, &stack, folder.path(), None)?;
        let host = match self.seen.stream.vantage {
            Vantage::Client => 0,
            Vantage::Server => 1,
            Vantage::Between | Vantage::Unknown => self.sender,
        };
        let file = tcplab_plan::network::capture_file(HOSTS[host], "eth0");
        let heard = heard(&folder.path().join(file), Rows::ALL)?;
        let found = heard.findings.iter().any(|f| f.id == self.seen.finding.id);
        Ok(Showed { heard, found })
    }

    /// The addresses of client and server, without ports.
    fn addresses(&self) -> [&str; 2] {
        let address = |end: &'a str| end.rsplit_once(':').map_or(end, |(address, _)| address);
        [
            address(&self.seen.stream.client),
            address(&self.seen.stream.server),
        ]
    }
}

/// The rows up to a frame.
fn covered(rows: &[Row], last_frame: u64) -> Vec<Row> {
    let end = rows.partition_point(|row| row.number <= last_frame);
    rows.get(..end).unwrap_or_default().to_vec()
}

/// The side whose data waited: the other one's late ACKs are among the packets of the finding, or else its own data.
fn sender(finding: &Finding, rows: &[Row]) -> Option<End> {
    let late = |row: &&Row| {
        let class = row.acked.as_ref().map(|ack| ack.class);
        class == Some(tcplab_analyze::trace::AckClass::Delayed)
    };
    let named = || {
        rows.iter()
            .filter(|row| finding.packets.contains(&row.number))
    };
    let ack = named().find(late).map(|row| usize::from(row.from_client));
    let data = || named().find(|row| row.len > 0);
    ack.or_else(|| data().map(|row| usize::from(!row.from_client)))
}

/// The figure's values in `rows`, for what was late in `before`.
fn values(before: &[Row], rows: &[Row], sender: End, bursts: &[Burst], figure: Figure) -> Vec<u64> {
    match figure {
        Figure::Acks => match figure::first_late_segment(before, sender) {
            Some(segment) => figure::waits(rows, sender, segment),
            None => Vec::new(),
        },
        Figure::Transfers => {
            let all: Vec<usize> = (0..bursts.len()).collect();
            figure::times(rows, sender, bursts, &all, figure)
        }
        _ => {
            let late = figure::late(before, sender, bursts, figure);
            figure::times(rows, sender, bursts, &late, figure)
        }
    }
}
