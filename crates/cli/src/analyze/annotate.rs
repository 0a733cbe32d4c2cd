//! `--annotate`: the same packets as pcapng, with our verdicts as packet comments, which stock
//! Wireshark shows and filters: `frame.comment contains "tcplab delayed_ack"`.
//!
//! Two passes: the analysis collects the comments, then the capture is read again and copied.

use std::fs::File;
use std::path::{Path, PathBuf};

use tcplab_analyze::Output;
use tcplab_analyze::findings::Finding;
use tcplab_analyze::report::{AckMode, Direction, Mode, Stream};
use tcplab_analyze::trace::{AckClass, Row, SegmentKind, StreamTrace};
use tcplab_capture::{Body, Interface, PcapngWriter, Reader};
use tcplab_wire::{CaqmInfo, CaqmUnits};

use crate::analyze::Source;
use crate::analyze::fail_on::name;
use crate::analyze::side::Side;
use crate::args::AnalyzeArgs;
use crate::failure::Failure;
use crate::files::ResultFile;

/// A comment on a packet.
type Comment = (u64, String);

/// Collects the comments, then copies the capture.
pub struct Annotate {
    path: PathBuf,
    source: PathBuf,
    comments: Vec<Comment>,
    /// Most comments, and how many were dropped.
    most: usize,
    left_out: usize,
    units: CaqmUnits,
    /// ACK modes of the stream whose packets come next: of the client, of the server.
    modes: (u32, [Vec<AckMode>; 2]),
}

impl Annotate {
    /// Copies the only one of `files` to `path`.
    pub fn new(path: &Path, files: &[Source], args: &AnalyzeArgs) -> Result<Self, Failure> {
        let [source] = files else {
            return Err(Failure::usage("--annotate takes exactly one capture"));
        };
        Ok(Self {
            path: path.to_path_buf(),
            source: source.path.clone(),
            comments: Vec::new(),
            most: args.max_packets.0.unwrap_or(usize::MAX),
            left_out: 0,
            units: args.caqm(),
            modes: Default::default(),
        })
    }

    fn stream(&mut self, s: &Stream) {
        self.modes = (
            s.stream,
            [
                s.client_to_server.acks_sent.modes.clone(),
                s.server_to_client.acks_sent.modes.clone(),
            ],
        );
        episodes(&s.client_to_server, &mut self.comments);
        episodes(&s.server_to_client, &mut self.comments);
    }

    fn trace(&mut self, trace: &StreamTrace) {
        self.comments.extend(
            trace
                .rows
                .iter()
                .filter_map(|r| Some((r.number, verdict(r)?))),
        );
        let units = &self.units;
        let tags = trace.rows.iter();
        self.comments
            .extend(tags.filter_map(|r| Some((r.number, tag(r.caqm?, units)))));
        let (stream, modes) = &self.modes;
        if *stream == trace.stream {
            mode_changes(trace, true, &modes[0], &mut self.comments);
            mode_changes(trace, false, &modes[1], &mut self.comments);
        }
    }
}

/// Where the sender's recovery began.
fn episodes(direction: &Direction, comments: &mut Vec<Comment>) {
    for e in &direction.episodes {
        let duration = match e.duration_us {
            Some(us) => format!("duration_us={us}"),
            None => "unfinished=1".into(),
        };
        let spurious = match &e.spurious {
            Some(evidence) => format!(" spurious=1 evidence={}", name(evidence)),
            None => String::new(),
        };
        let text = format!(
            "tcplab recovery kind={} {duration} retransmissions={}{spurious}",
            name(&e.kind),
            e.retransmissions
        );
        comments.push((e.packet, text));
    }
}

fn finding(f: &Finding, comments: &mut Vec<Comment>) {
    for packet in &f.packets {
        let (id, severity) = (name(&f.id), name(&f.severity));
        let text = format!("tcplab finding id={id} severity={severity}: {}", f.title);
        comments.push((*packet, text));
    }
}

/// What the packet is, where that is worth a comment.
fn verdict(row: &Row) -> Option<String> {
    if let Some(ack) = row.acked
        && ack.class == AckClass::Delayed
    {
        return Some(format!(
            "tcplab delayed_ack wait_us={} path_us={} segments={}",
            ack.wait_us, ack.path_us, ack.segments
        ));
    }
    let retransmission = |kind: &str| {
        let spurious = u8::from(row.spurious);
        Some(format!(
            "tcplab retransmission kind={kind} spurious={spurious}"
        ))
    };
    match row.kind {
        SegmentKind::Fast => retransmission("fast"),
        SegmentKind::Rto => retransmission("rto"),
        SegmentKind::Tlp => retransmission("tlp"),
        SegmentKind::Retransmission => retransmission("other"),
        SegmentKind::OutOfOrder => Some("tcplab out_of_order".into()),
        SegmentKind::KeepAlive => Some("tcplab keep_alive".into()),
        SegmentKind::ZeroWindowProbe => Some("tcplab zero_window_probe".into()),
        SegmentKind::PureAck | SegmentKind::New | SegmentKind::Quoted => None,
    }
}

/// What the packet's CAQM tag says.
fn tag(info: CaqmInfo, units: &CaqmUnits) -> String {
    let (hint, value) = (info.hint(), info.value(units));
    let last = u8::from(info.has(CaqmInfo::LAST_HOP));
    if info.cc_type() != units.cc_type {
        return format!("tcplab caqm foreign type={}", info.cc_type());
    }
    if !info.is_data() {
        return format!("tcplab caqm feedback hint={hint} bytes={value}");
    }
    let verdict = match (info.has(CaqmInfo::C), info.has(CaqmInfo::I)) {
        (false, true) => "granted",
        (false, false) => "refused",
        (true, false) => "marked",
        (true, true) => "contradictory",
    };
    format!("tcplab caqm request verdict={verdict} hint={hint} bytes={value} last_hop={last}")
}

/// The first ACK of each mode after the first one.
fn mode_changes(trace: &StreamTrace, from_client: bool, modes: &[AckMode], out: &mut Vec<Comment>) {
    let mut rows = trace.rows.iter().filter(|r| r.from_client == from_client);
    for pair in modes.windows(2) {
        let [before, after] = pair else { continue };
        let reached = |r: &&Row| {
            r.acked
                .is_some_and(|a| a.newest_segment >= after.from_segment)
        };
        let Some(row) = rows.find(reached) else {
            return;
        };
        let text = format!(
            "tcplab ack_mode {}->{} segment={} byte={}",
            mode(before.mode),
            mode(after.mode),
            after.from_segment,
            after.from_byte
        );
        out.push((row.number, text));
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Quick => "quick",
        Mode::Delayed => "delayed",
    }
}

impl Side for Annotate {
    fn see(&mut self, output: &Output) -> Result<(), Failure> {
        match output {
            Output::Stream(s) => self.stream(s),
            Output::Finding(f) => finding(f, &mut self.comments),
            Output::Trace(t) => self.trace(t),
        }
        self.left_out += self.comments.len().saturating_sub(self.most);
        self.comments.truncate(self.most);
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<String, Failure> {
        // Stable: the comments of one packet keep their order.
        self.comments.sort_by_key(|c| c.0);
        let out = ResultFile::create(&self.path)?;
        let out = copy(&self.source, out, &self.path, &self.comments)?;
        out.commit()?;
        let left_out = match self.left_out {
            0 => String::new(),
            n => format!(" without {n} comments: raise --max-packets to keep more packets"),
        };
        Ok(format!("Annotated: {}{left_out}", self.path.display()))
    }
}

/// Copies what can be read of `source`, with the comments.
fn copy(
    source: &Path,
    out: ResultFile,
    path: &Path,
    comments: &[Comment],
) -> Result<ResultFile, Failure> {
    let file = File::open(source)
        .map_err(|e| Failure::input(format!("{}: cannot read again: {e}", source.display())))?;
    let written = PcapngWriter::new(out).and_then(|mut writer| {
        // Damage was reported by the first pass; here it only ends the copy.
        if let Ok(mut reader) = Reader::new(file) {
            packets(&mut reader, &mut writer, comments)?;
        }
        writer.finish()
    });
    written.map_err(|e| Failure::output(path, &e))
}

fn packets(
    reader: &mut Reader<File>,
    writer: &mut PcapngWriter<ResultFile>,
    comments: &[Comment],
) -> std::io::Result<()> {
    let mut left = comments;
    let mut bytes = Vec::new();
    while let Ok(Some(record)) = reader.next() {
        let Body::Frame { data, orig_len, .. } = record.body else {
            if matches!(record.body, Body::Tcp(_)) {
                return Err(std::io::Error::other(
                    "the text of tcpdump contains no packet bytes to copy: annotate the capture file",
                ));
            }
            continue;
        };
        let (number, time, interface) = (record.number, record.time, record.interface);
        // The record borrows the reader, which is asked for its interfaces below.
        bytes.clear();
        bytes.extend_from_slice(data);
        describe(reader.interfaces(), writer)?;
        let mine = take(&mut left, number);
        writer.packet(interface, time, &bytes, orig_len, &mine)?;
    }
    describe(reader.interfaces(), writer)
}

/// Describes the interfaces that the reader has met since the last packet.
fn describe(
    interfaces: &[Interface],
    writer: &mut PcapngWriter<ResultFile>,
) -> std::io::Result<()> {
    let known = writer.interfaces() as usize;
    for interface in interfaces.get(known..).unwrap_or_default() {
        writer.add_interface(interface)?;
    }
    Ok(())
}

/// Takes the comments on packet `number` off the front; those before it are on no packet.
fn take<'a>(left: &mut &'a [Comment], number: u64) -> Vec<&'a str> {
    let skip = left.partition_point(|c| c.0 < number);
    let rest = left.get(skip..).unwrap_or_default();
    let (mine, rest) = rest.split_at(rest.partition_point(|c| c.0 == number));
    *left = rest;
    mine.iter().map(|c| c.1.as_str()).collect()
}
