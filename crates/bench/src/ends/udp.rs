//! Datagrams: as fast as they go, or one there and one back.

use std::io;

use nix::errno::Errno;

use super::end::{Answered, Pipe, Tally};
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
    let mut asker = Asker {
        message: vec![0; size as usize],
        room: vec![0; LARGEST],
    };
    while phase.is_warming() {
        asker.once(pipe)?;
    }
    let tally = Tally::begin();
    let mut latencies = Latencies::begin();
    let (mut transactions, mut lost) = (0, 0);
    while phase.counts() {
        match asker.once(pipe)? {
            true => transactions += 1,
            false => lost += 1,
        }
        latencies.next();
    }
    let mut report = tally.asked(transactions, size);
    report.lost = lost;
    latencies.tell(&mut report);
    // Without data: no more questions.
    given(pipe.write(&[]))?;
    Ok(report)
}

struct Asker {
    message: Vec<u8>,
    room: Vec<u8>,
}

impl Asker {
    /// One transaction; false: no answer in time. Its first byte is its number: an answer that comes too late must not
    /// be taken for the next one's, or two questions would be on their way from then on.
    fn once(&mut self, pipe: &mut Pipe) -> io::Result<bool> {
        self.message[0] = self.message[0].wrapping_add(1);
        given(pipe.write(&self.message))?;
        loop {
            match given(pipe.read(&mut self.room))? {
                0 => return Ok(false),
                _ if self.room[0] == self.message[0] => return Ok(true),
                _ => {}
            }
        }
    }
}

/// Answers until the asker says that it is done: the last question must not wait in vain. Where that is lost, until nobody asks
/// any more.
pub(super) fn answerer(pipe: &mut Pipe, size: u32, phase: &Phase) -> io::Result<EndReport> {
    let mut room = vec![0; LARGEST];
    let mut answered = Answered::default();
    loop {
        match pipe.read(&mut room) {
            Ok(0) => break,
            Ok(_) => {}
            Err(e) if given(Err(e))? == 0 && phase.is_over() => break,
            Err(_) => continue,
        }
        given(pipe.write(&room[..size as usize]))?;
        answered.one(phase);
    }
    let (tally, transactions) = answered.end();
    Ok(tally.asked(transactions, size))
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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_question_after_the_time_is_answered_until_the_asker_is_done() {
        let [a, b] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
        a.connect(b.local_addr().unwrap()).unwrap();
        b.connect(a.local_addr().unwrap()).unwrap();
        // For a machine that stands still, not for the answer.
        a.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let phase = Phase::start(Duration::ZERO, Duration::ZERO).unwrap();
        while !phase.is_over() {
            thread::yield_now();
        }
        let mut pipe = Pipe::datagrams(b.into()).unwrap();
        let answers = thread::spawn(move || answerer(&mut pipe, 1, &phase).unwrap());
        let mut room = [0; 8];
        for number in 1..4 {
            a.send(&[number]).unwrap();
            assert_eq!(a.recv(&mut room).unwrap(), 1);
            assert_eq!(room[0], number);
        }
        a.send(&[]).unwrap();
        // None of them was in time.
        assert_eq!(answers.join().unwrap().transactions, 0);
    }
}
