//! A connection without waiting, with TLS or without: for both ends.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use rustls::Connection;

/// Bytes of a read.
const ROOM: usize = 128 << 10;
/// Bytes that are given to TLS at once.
const PIECE: usize = 64 << 10;

/// Where bytes come in, shared by all connections of a thread.
pub(super) struct Rooms {
    raw: Vec<u8>,
    plain: Vec<u8>,
}

impl Rooms {
    pub(super) fn new() -> Self {
        Self {
            raw: vec![0; ROOM],
            plain: vec![0; ROOM],
        }
    }
}

/// How a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// More may come.
    Open,
    /// The other end has sent all it had.
    Ended,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) socket: TcpStream,
    tls: Option<Box<Connection>>,
}

impl Channel {
    /// Over a socket that does not block.
    pub(super) fn new(socket: TcpStream, tls: Option<Connection>) -> Self {
        Self {
            socket,
            tls: tls.map(Box::new),
        }
    }

    /// Whether it speaks TLS.
    pub(super) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether a handshake of TLS is whole; always without TLS.
    pub(super) fn is_up(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| !tls.is_handshaking())
    }

    /// Whether TLS resumed an earlier session.
    pub(super) fn is_resumed(&self) -> bool {
        let kind = self.tls.as_ref().and_then(|tls| tls.handshake_kind());
        kind == Some(rustls::HandshakeKind::Resumed)
    }

    /// Writes what it can of `bytes[*at..]`, and what TLS has to say; true when all is written.
    pub(super) fn push(&mut self, bytes: &[u8], at: &mut usize) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            while *at < bytes.len() {
                match (&self.socket).write(&bytes[*at..]) {
                    Ok(n) => *at += n,
                    Err(e) if waits(&e) => return Ok(false),
                    Err(e) => return Err(e),
                }
            }
            return Ok(true);
        };
        loop {
            // A request waits for the handshake: so its last flight and the request go out together.
            if *at < bytes.len() && !tls.is_handshaking() {
                let piece = &bytes[*at..bytes.len().min(*at + PIECE)];
                // None when its buffer is full.
                *at += tls.writer().write(piece)?;
            }
            while tls.wants_write() {
                match tls.write_tls(&mut &self.socket) {
                    Ok(_) => {}
                    Err(e) if waits(&e) => return Ok(false),
                    Err(e) => return Err(e),
                }
            }
            if *at == bytes.len() || tls.is_handshaking() {
                return Ok(*at == bytes.len());
            }
        }
    }

    /// Reads what there is and hands it over. `to_end`: the end of data is there already, behind what can be read.
    pub(super) fn pull(
        &mut self,
        rooms: &mut Rooms,
        to_end: bool,
        mut each: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> io::Result<Flow> {
        loop {
            let n = match (&self.socket).read(&mut rooms.raw) {
                Ok(0) => return Ok(Flow::Ended),
                Ok(n) => n,
                Err(e) if waits(&e) => return Ok(Flow::Open),
                Err(e) => return Err(e),
            };
            match &mut self.tls {
                None => each(&rooms.raw[..n]).map_err(io::Error::other)?,
                Some(tls) => {
                    let mut came = &rooms.raw[..n];
                    while !came.is_empty() {
                        tls.read_tls(&mut came)?;
                        tls.process_new_packets().map_err(io::Error::other)?;
                        plain(tls, &mut rooms.plain, &mut each)?;
                    }
                }
            }
            // epoll(7): less than there was room for is all there was.
            if n < rooms.raw.len() && !to_end {
                return Ok(Flow::Open);
            }
        }
    }

    /// Says that nothing follows (RFC 8446 6.1); the caller drops the connection then.
    pub(super) fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = tls.write_tls(&mut &self.socket);
        }
    }
}

fn plain(
    tls: &mut Connection,
    room: &mut [u8],
    each: &mut impl FnMut(&[u8]) -> Result<(), String>,
) -> io::Result<()> {
    loop {
        match tls.reader().read(room) {
            Ok(0) => return Ok(()),
            Ok(n) => each(&room[..n]).map_err(io::Error::other)?,
            Err(e) if waits(&e) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

/// Whether there is nothing to do now.
fn waits(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
