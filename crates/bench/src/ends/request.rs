//! Transactions on one connection (netperf TCP_RR): a message there, a message back.

use std::io;

use tcplab_base::{Duration, Instant};

use super::end::{Answered, Pipe, Tally};
use super::measure::EndReport;
use super::phase::Phase;
use tcplab_os::clock::monotonic as now;

/// Asks and waits, again and again.
pub(super) fn client(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; size as usize];
    while phase.is_warming() {
        once(pipe, &mut room)?;
    }
    let tally = Tally::begin();
    let mut latencies = Latencies::begin();
    let mut transactions = 0;
    while phase.counts() {
        once(pipe, &mut room)?;
        transactions += 1;
        latencies.next();
    }
    let mut report = tally.asked(transactions, size);
    latencies.tell(&mut report);
    pipe.finish();
    Ok(report)
}

fn once(pipe: &mut Pipe, room: &mut [u8]) -> io::Result<()> {
    write_all(pipe, room)?;
    match read_all(pipe, room)? {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Answers until the client ends.
pub(super) fn server(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; size as usize];
    let mut answered = Answered::default();
    while read_all(pipe, &mut room)? {
        write_all(pipe, &room)?;
        answered.one(phase);
    }
    let (tally, transactions) = answered.end();
    Ok(tally.asked(transactions, size))
}

#[inline]
fn write_all(pipe: &mut Pipe, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        done += pipe.write(&bytes[done..])?;
    }
    Ok(())
}

/// False: the other end is gone.
#[inline]
fn read_all(pipe: &mut Pipe, room: &mut [u8]) -> io::Result<bool> {
    let mut done = 0;
    while done < room.len() {
        match pipe.read(&mut room[done..])? {
            0 => return Ok(false),
            n => done += n,
        }
    }
    Ok(true)
}

/// Times between the ends of transactions, in a histogram of three digits.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    last: Instant,
    sketch: tcplab_stats::Sketch,
}

impl Latencies {
    pub(super) fn begin() -> Self {
        Self {
            last: now(),
            sketch: tcplab_stats::Sketch::new(),
        }
    }

    /// A transaction has ended.
    #[inline]
    pub(super) fn next(&mut self) {
        let at = now();
        self.add(at.since(self.last));
        self.last = at;
    }

    /// One took this long.
    #[inline]
    pub(super) fn add(&mut self, time: Duration) {
        // The histogram's unit is what its user says: here nanoseconds.
        self.sketch.add(time.as_nanos().unsigned_abs(), 1);
    }

    pub(super) fn tell(&self, report: &mut EndReport) {
        report.latency_p50_ns = self.sketch.quantile(0.5);
        report.latency_p99_ns = self.sketch.quantile(0.99);
    }
}
