//! Streams: one end writes, the other reads.

use std::io;

use nix::errno::Errno;

use super::end::{Pipe, Tally};
use super::measure::EndReport;
use super::phase::Phase;
use super::room::Room;

/// Bytes of a read, as iperf3's.
const READ: usize = 128 << 10;

/// Writes for the time.
pub(super) fn sender(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let bytes = Room::of(size as usize);
    while phase.is_warming() {
        pipe.write(&bytes)?;
    }
    let tally = Tally::begin();
    let (mut sum, mut calls) = (0, 0);
    while phase.counts() {
        sum += pipe.write(&bytes)? as u64;
        calls += 1;
    }
    let report = tally.end(sum, calls, 0);
    pipe.finish();
    Ok(report)
}

/// Reads until the sender ends, and counts for the time.
pub(super) fn receiver(pipe: &mut Pipe, phase: &Phase) -> io::Result<EndReport> {
    let mut room = Room::of(READ);
    while phase.is_warming() && pipe.read(&mut room)? > 0 {}
    let tally = Tally::begin();
    let (mut sum, mut calls) = (0, 0);
    while phase.counts() {
        match pipe.read(&mut room)? as u64 {
            0 => break,
            n => sum += n,
        }
        calls += 1;
    }
    let report = tally.end(sum, calls, 0);
    // What is on its way: a reset would be counted by the kernel.
    loop {
        match pipe.read(&mut room) {
            Ok(0) | Err(Errno::ECONNRESET) => return Ok(report),
            Ok(_) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
