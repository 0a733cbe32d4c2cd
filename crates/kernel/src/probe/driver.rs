//! Every application of the crate `apps` on a real socket: one driver for all of them.

use std::io;

use tcplab_apps::{Message, Program, Result as Last, Step};
use tcplab_plan::app::AppKind;
use tcplab_plan::point::{QuickAck, SocketOptions};

use super::address::{Target, Transport};
use super::conn::{Conn, Got};
use super::error::Error;
use super::options;
use super::report::Ended;
use super::run::Probe;
use super::serve::{Service, serve};
use super::udp;

/// How far a connection went.
enum Driven {
    Over(Ended),
    /// The program wants another connection.
    Reconnect,
}

/// Serves an application until the end.
///
/// # Errors
/// When it cannot listen.
pub fn server(probe: &Probe, service: &Service, app: &AppKind) -> Result<(), Error> {
    if app.is_udp() {
        return udp::server(probe, service, app);
    }
    serve(probe, service, |conn| {
        let mut program = Program::server(app);
        let outcome = drive(conn, &mut program, service.socket.quickack);
        keep(conn, &program, 0);
        // A server never asks for another connection.
        outcome.map(|driven| match driven {
            Driven::Over(ended) => ended,
            Driven::Reconnect => Ended::Finished,
        })
    })
}

/// Runs the client's end of an application; gives how the last connection ended.
///
/// # Errors
/// When it cannot connect.
pub fn client(
    probe: &Probe,
    target: &Target,
    wanted: &SocketOptions,
    app: &AppKind,
) -> Result<Ended, Error> {
    options::pin(wanted.cpu)?;
    let transport = match app.is_udp() {
        true => Transport::Udp,
        false => Transport::Tcp,
    };
    let mut program = Program::client(app);
    let mut completed = 0;
    loop {
        program.connects(probe.now());
        let Some(mut conn) = Conn::connect(probe, target, transport, wanted)? else {
            return Ok(Ended::Interrupted);
        };
        let outcome = conn
            .begin_policy(wanted.quickack)
            .and_then(|()| drive(&mut conn, &mut program, wanted.quickack));
        completed = keep(&mut conn, &program, completed);
        match outcome {
            Ok(Driven::Reconnect) => conn.finish(Ok(Ended::Finished)),
            Ok(Driven::Over(ended)) => return Ok(conn.finish(Ok(ended))),
            Err(e) => return Ok(conn.finish(Err(e))),
        };
    }
}

/// Carries out the program's steps until the connection has ended.
fn drive(conn: &mut Conn<'_>, program: &mut Program, policy: QuickAck) -> io::Result<Driven> {
    let mut last = Last::Done;
    let mut has_shut = false;
    loop {
        if conn.probe.is_stopped() {
            return Ok(Driven::Over(Ended::Interrupted));
        }
        last = match program.next(conn.probe.now(), last) {
            // No probe asks for urgent writes.
            Step::Write(size) | Step::WriteUrgent(size) | Step::Send(Message { size, .. }) => {
                match conn.write(size)? {
                    Got::Bytes(_) => Last::Done,
                    other => heard(other),
                }
            }
            Step::Read(size) => match read_exactly(conn, size, policy)? {
                Got::Bytes(_) => Last::Done,
                other => heard(other),
            },
            Step::ReadSome(size) => {
                quickack(conn, policy)?;
                heard(conn.read(whole(size), None)?)
            }
            Step::Receive(until) => match conn.read(udp::LARGEST, until)? {
                Got::Bytes(n) => Last::Message(udp::unnumbered(n)),
                other => heard(other),
            },
            Step::Until(time) => {
                conn.sleep(time);
                Last::Done
            }
            Step::Shutdown => {
                conn.shutdown()?;
                has_shut = true;
                Last::Done
            }
            Step::Reconnect => return Ok(Driven::Reconnect),
            Step::Close if last == Last::End && !has_shut => return Ok(Driven::Over(Ended::Peer)),
            Step::Close => return Ok(Driven::Over(Ended::Finished)),
        };
    }
}

/// What the program hears of a read; the loop sees for itself that the user wants an end.
fn heard(got: Got) -> Last {
    match got {
        Got::Bytes(n) => Last::Got(n as u64),
        Got::End => Last::End,
        Got::Late | Got::Stopped => Last::TimedOut,
    }
}

/// Reads this many bytes, in as many reads as it takes.
fn read_exactly(conn: &mut Conn<'_>, size: u64, policy: QuickAck) -> io::Result<Got> {
    let mut left = size;
    while left > 0 {
        quickack(conn, policy)?;
        match conn.read(whole(left), None)? {
            Got::Bytes(n) => left = left.saturating_sub(n as u64),
            other => return Ok(other),
        }
    }
    Ok(Got::Bytes(whole(size)))
}

fn quickack(conn: &mut Conn<'_>, policy: QuickAck) -> io::Result<()> {
    match policy {
        QuickAck::Each(value) => conn.set_quickack(value, false),
        QuickAck::Leave | QuickAck::Once(_) => Ok(()),
    }
}

fn whole(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Gives the connection what the program completed on it; a program that opens several has
/// completed `before` on the earlier ones.
fn keep(conn: &mut Conn<'_>, program: &Program, before: u64) -> u64 {
    let record = program.record();
    let skip = whole(before);
    conn.record.completed = record.completed().saturating_sub(before);
    let latencies = record.latencies().iter().skip(skip);
    conn.record.latency_ns = latencies.map(|d| d.as_nanos()).collect();
    record.completed()
}
