//! Datagrams: as fast as they go, or one there and one back.

use std::io;

use nix::errno::Errno;

use super::end::{Pipe, Tally};
use super::measure::EndReport;
use super::phase::Phase;
use super::request::Latencies;

/// The largest datagram.
const LARGEST: usize = 65_536;

/// Sends for the time. What the receiver has no room for is lost; that is counted there.
pub(super) fn sender(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let bytes = vec![0; size as usize];
    while phase.is_warming() {
        given(pipe.write(&bytes))?;
    }
    let tally = Tally::begin();
    let (mut sum, mut calls) = (0, 0);
    while phase.counts() {
        sum += given(pipe.write(&bytes))?;
        calls += 1;
    }
    Ok(tally.end(sum, calls, 0))
}

/// Receives for the time.
pub(super) fn receiver(pipe: &mut Pipe, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; LARGEST];
    while phase.is_warming() {
        given(pipe.read(&mut room))?;
    }
    let tally = Tally::begin();
    let (mut sum, mut calls) = (0, 0);
    while phase.counts() {
        let got = given(pipe.read(&mut room))?;
        sum += got;
        calls += u64::from(got > 0);
    }
    Ok(tally.end(sum, calls, 0))
}

/// Asks and waits. A lost datagram costs the wait of a read.
pub(super) fn asker(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; LARGEST];
    let size = size as usize;
    while phase.is_warming() {
        given(pipe.write(&room[..size]))?;
        given(pipe.read(&mut room))?;
    }
    let tally = Tally::begin();
    let mut latencies = Latencies::begin();
    let (mut transactions, mut lost) = (0, 0);
    while phase.counts() {
        given(pipe.write(&room[..size]))?;
        match given(pipe.read(&mut room))? {
            0 => lost += 1,
            _ => transactions += 1,
        }
        latencies.next();
    }
    let mut report = tally.end(
        2 * transactions * size as u64,
        2 * transactions,
        transactions,
    );
    report.lost = lost;
    latencies.tell(&mut report);
    Ok(report)
}

/// Answers until nobody asks any more.
pub(super) fn answerer(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; LARGEST];
    let tally = Tally::begin();
    let mut transactions = 0;
    while !phase.is_over() {
        if given(pipe.read(&mut room))? > 0 {
            given(pipe.write(&room[..size as usize]))?;
            transactions += 1;
        }
    }
    Ok(tally.end(
        2 * transactions * u64::from(size),
        2 * transactions,
        transactions,
    ))
}

/// Bytes of a call; none when there was no room, nothing in time, or nobody there (ICMP).
#[inline]
fn given(call: nix::Result<usize>) -> io::Result<u64> {
    match call {
        Ok(n) => Ok(n as u64),
        Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::ECONNREFUSED | Errno::EINTR) => Ok(0),
        Err(e) => Err(e.into()),
    }
}
