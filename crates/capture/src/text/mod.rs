//! The text that `tcpdump -n` prints, as it stands in mails and bug reports.
//!
//! A line is a record when it describes a packet; hex dumps, headings and prose are passed over. Names in place of
//! numbers (`tcpdump` without `-n`) are no addresses: such lines are counted, and if there is nothing else that is the error.

mod columns;
mod line;
mod options;
mod sequence;

use std::io::Read;

use tcplab_wire::{Encap, Standing, TcpPacket};

use self::columns::{Clock, Columns, Layout};
use self::line::{Kind, Line};
use self::sequence::Sequences;
use crate::Error;
use crate::buffer::Buffer;
use crate::reader::Found;

/// Longer lines are no lines of tcpdump.
const MAX_LINE: usize = 64 * 1024;
/// Bytes that are waited for to tell whether it is text, and which column is the time.
pub(crate) const HEAD: usize = 32 * 1024;
/// Lines that tell which column is the time.
const LAYOUT_LINES: usize = 200;

/// Whether the first bytes may be text: no control characters but white space.
pub(crate) fn is_text(head: &[u8]) -> bool {
    let control = |b: &u8| *b < b' ' && !matches!(*b, b'\t' | b'\n' | b'\r' | 0x1b | 0x0c);
    !head.iter().any(|b| control(b) || *b == 0x7f)
}

pub(crate) struct Text {
    clock: Clock,
    sequences: Sequences,
    /// The first line of two (`-v`), waiting for the second.
    header: Option<Header>,
    /// The last packet was ICMP: how far its line is indented. What it quotes (`-v`) stands further in.
    icmp: Option<usize>,
    found: bool,
    /// Offset of the first line with names.
    names: Option<u64>,
}

/// What the IP header line of `-v` says.
#[derive(Clone, Copy)]
struct Header {
    columns: Columns,
    ecn: u8,
    ttl: u8,
    ip_id: Option<u16>,
}

impl Text {
    /// Looks at the lines that are there already to tell the columns apart.
    pub(crate) fn open(ready: &[u8]) -> Self {
        let lines: Vec<Columns> = ready
            .split(|b| *b == b'\n')
            .filter_map(|bytes| {
                let text = String::from_utf8_lossy(bytes);
                match line::read(text.trim_end()) {
                    Kind::Tcp(_, prefix) | Kind::Other(prefix) => Some(Columns::read(prefix)),
                    Kind::Header(text) => Some(Columns::read(before_ip(text))),
                    Kind::Names | Kind::Damaged(_) | Kind::Noise => None,
                }
            })
            .filter(Columns::is_timed)
            .take(LAYOUT_LINES)
            .collect();
        Self {
            clock: Clock::new(Layout::guess(&lines)),
            sequences: Sequences::default(),
            header: None,
            icmp: None,
            found: false,
            names: None,
        }
    }

    /// The next record.
    pub(crate) fn next<R: Read>(&mut self, buffer: &mut Buffer<R>) -> Result<Option<Found>, Error> {
        loop {
            let at = buffer.offset();
            let Some(range) = next_line(buffer)? else {
                return self.end(at).map(|()| None);
            };
            let text = String::from_utf8_lossy(buffer.slice(range));
            let kind = line::read(text.trim_end());
            // A packet that an ICMP error quotes passed before.
            let quoted = match (&kind, self.icmp) {
                (Kind::Header(_), Some(icmp)) => indent(&text) > icmp,
                (Kind::Tcp(_, prefix), Some(_)) => {
                    self.header.is_none() && prefix.trim().is_empty()
                }
                _ => false,
            };
            if quoted {
                continue;
            }
            if matches!(kind, Kind::Tcp(..) | Kind::Header(_)) {
                self.icmp = None;
            }
            match kind {
                Kind::Tcp(line, prefix) => {
                    self.found = true;
                    return Ok(Some(self.packet(line, prefix)));
                }
                Kind::Other(prefix) => {
                    self.header = None;
                    self.icmp = text.contains("ICMP").then(|| indent(&text));
                    self.found = true;
                    let (time, _) = self.clock.time(&Columns::read(prefix));
                    return Ok(Some(Found::Other { time }));
                }
                Kind::Header(text) => self.header = Some(Header::read(text)),
                Kind::Damaged(field) => return Err(damaged(at, field)),
                Kind::Names => self.names = self.names.or(Some(at)),
                Kind::Noise => {}
            }
        }
    }

    fn packet(&mut self, mut line: Line, prefix: &str) -> Found {
        let mut columns = Columns::read(prefix);
        let waiting = self.header.take().filter(|_| !columns.is_timed());
        // IPv6 headers stand on the same line.
        let header = waiting.or_else(|| prefix.contains("hlim ").then(|| Header::read(prefix)));
        if let Some(header) = header {
            columns = header.columns;
        }
        let (time, since_previous) = self.clock.time(&columns);
        let (seq, ack) = self.sequences.resolve(&mut line);
        let packet = TcpPacket {
            src: line.src,
            dst: line.dst,
            seq,
            ack,
            flags: line.flags,
            window: line.window,
            urgent: line.urgent,
            payload_len: line.payload_len,
            header_len: 20 + line.options_len,
            options: line.options,
            ecn: header.map_or(0, |h| h.ecn),
            ttl: header.map_or(0, |h| h.ttl),
            ip_id: header.and_then(|h| h.ip_id),
            header_truncated: false,
            standing: Standing::Whole,
            encap: Encap::default(),
        };
        Found::Tcp {
            time,
            since_previous,
            packet: Box::new(packet),
        }
    }

    /// A text without packets is an error: nobody analyses one on purpose.
    fn end(&self, at: u64) -> Result<(), Error> {
        match self.names {
            _ if self.found => Ok(()),
            Some(at) => Err(Error::at(
                at,
                "this text has names in place of addresses or ports; print it again with `tcpdump -n`",
            )),
            None => Err(Error::at(
                at,
                "no line that `tcpdump -n` would print was found, and it is not a pcap or pcapng file either",
            )),
        }
    }
}

/// A number that no TCP packet holds.
fn damaged(at: u64, field: &str) -> Error {
    Error::at(
        at,
        format!(
            "the number after `{field}` is larger than a TCP packet can hold: this line is damaged; mend or remove it. \
             All packets before it were read"
        ),
    )
}

/// Takes a line, without its end. A line that is too long counts as empty.
fn next_line<R: Read>(buffer: &mut Buffer<R>) -> Result<Option<std::ops::Range<usize>>, Error> {
    let mut searched = 0;
    let mut long = false;
    loop {
        let ready = buffer.ready();
        let new = ready.get(searched..).unwrap_or_default();
        if let Some(at) = new.iter().position(|b| *b == b'\n') {
            let range = buffer.take(searched + at + 1);
            let end = if long { range.start } else { range.end - 1 };
            return Ok(Some(range.start..end));
        }
        let had = ready.len();
        if had > MAX_LINE {
            buffer.take(had);
            (searched, long) = (0, true);
        } else {
            searched = had;
        }
        let wanted = searched + 1;
        if buffer.peek(wanted)?.len() < wanted {
            let rest = buffer.take(searched);
            let nothing = rest.is_empty() && !long;
            return Ok((!nothing).then_some(if long { rest.start..rest.start } else { rest }));
        }
    }
}

/// How far a line is indented; tcpdump does it by tabs and spaces.
fn indent(line: &str) -> usize {
    let marks = line.len() - line::without_indent(line).len();
    let marks = line.bytes().take(marks);
    marks.map(|b| if b == b'\t' { 8 } else { 1 }).sum()
}

/// The columns of a header line end before "IP" or the MAC addresses.
fn before_ip(line: &str) -> &str {
    let at = line.find(" IP").or_else(|| line.find(" > "));
    at.and_then(|at| line.get(..at)).unwrap_or_default()
}

impl Header {
    fn read(line: &str) -> Self {
        let after = |name: &str| {
            let at = line.find(name)? + name.len();
            let rest = line.get(at..)?;
            rest.split([',', ' ', ')']).next()
        };
        let number = |name: &str| after(name).and_then(|v| v.parse().ok());
        let class = after("(tos 0x").or_else(|| after("class 0x"));
        let class = class.and_then(|v| u8::from_str_radix(v, 16).ok());
        let ttl: Option<u16> = number(" ttl ").or_else(|| number("hlim "));
        Self {
            columns: Columns::read(before_ip(line)),
            ecn: class.unwrap_or(0) & 3,
            ttl: ttl.and_then(|v| u8::try_from(v).ok()).unwrap_or(0),
            ip_id: number(" id "),
        }
    }
}
