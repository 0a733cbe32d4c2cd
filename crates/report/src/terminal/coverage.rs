//! How far "no findings" can be believed: unexplained effects in the packets, and findings that could not be looked
//! for.

use std::fmt::Write;

use tcplab_analyze::budget::Class;
use tcplab_analyze::findings::{self, Finding, Id, Need};
use tcplab_analyze::report::{Direction, Effect, State, Stream, Totals, Unexplained};

use super::bars::went_to;
use super::collect::heading;
use super::findings::labelled;
use super::notes::needless_probes;
use super::style::Ink;
use super::untold::{self, Ends, Kind};
use super::{Theme, units};
use crate::glossary::short;

/// What a stream may show without a finding that explains it, with a noun for one and for many.
const LOOSE: [(Effect, &str, &str); 6] = [
    (
        Effect::Retransmissions,
        "packet was sent again",
        "packets were sent again",
    ),
    (Effect::DelayedAcks, "ACK was delayed", "ACKs were delayed"),
    (
        Effect::UnclearAcks,
        "ACK may have waited for a timer or for the path",
        "ACKs may have waited for a timer or for the path",
    ),
    (
        Effect::NoAnswer,
        "connection got no answer",
        "connections got no answer",
    ),
    (
        Effect::Refused,
        "connection was refused",
        "connections were refused",
    ),
    (
        Effect::Reset,
        "connection was reset",
        "connections were reset",
    ),
];

/// The kind that is a doubt, not an event.
const UNCLEAR: usize = 2;
/// Kinds: those of [`LOOSE`], then the classes of [`untold::CLASSES`].
const KINDS: usize = LOOSE.len() + untold::CLASSES.len();
/// What a finding explains: kinds of [`LOOSE`] by index, and classes of time.
type Explained = (&'static [usize], &'static [Class]);

/// Sent again, and the time that it took.
const SENT_AGAIN: Explained = (
    &[0],
    &[Class::FastRecovery, Class::Tlp, Class::Rto, Class::Spurious],
);
/// A late ACK, and those who waited for it.
const LATE: Explained = (&[1, UNCLEAR], &[Class::DelayedAck, Class::Nagle]);

/// How often each kind is in a stream; of classes, microseconds.
fn loose(s: &Stream) -> [u64; KINDS] {
    let both = |n: fn(&Direction) -> u64| n(&s.client_to_server) + n(&s.server_to_client);
    let is = |state: State| u64::from(s.state == state);
    let events = [
        // A probe that was not needed is nothing that TCP should not do; the notes name it.
        both(|d| d.retransmissions.total).saturating_sub(needless_probes(s)),
        both(|d| d.acks_sent.delayed),
        both(|d| d.acks_sent.unclear),
        is(State::HalfOpen),
        is(State::Refused),
        is(State::Reset),
    ];
    let mut all = [0; KINDS];
    let counted = events.into_iter().chain(untold::long(s));
    all.iter_mut().zip(counted).for_each(|(of, n)| *of = n);
    all
}

/// What a finding explains. Findings outside this list explain nothing: a slow server is
/// no reason to send a packet again.
fn explained(id: Id) -> Explained {
    match id.name() {
        "rto_stall"
        | "spurious_rto"
        | "spurious_retransmission_reordering"
        | "tail_loss"
        | "black_hole"
        | "path_mtu"
        | "loss"
        | "congestion_loss"
        | "random_loss"
        | "policer"
        | "reordering"
        | "duplication"
        | "caqm_no_switch" => SENT_AGAIN,
        "quickack_exhausted" | "delack_nagle" | "delack_request_response" => LATE,
        "receive_window_limited" | "window_scaling_off" | "zero_window_stall" => {
            (&[], &[Class::ZeroWindow])
        }
        // The client's timer sent again what the full queue dropped.
        "accept_queue_overflow" => (&[0, 3], &[Class::Rto, Class::Tlp]),
        "syn_retries" | "unreachable" | "time_wait_reuse" => (&[0, 3], &[]),
        "refused" => (&[0, 4], &[]),
        "keepalive_death" => (&[0, 5], &[Class::Rto]),
        "reset" | "reset_by_middlebox" => (&[5], &[]),
        _ => (&[], &[]),
    }
}

/// Over the streams of a capture.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The capture itself has a finding.
    about_the_capture: bool,
    kinds: [Kind; KINDS],
    /// The last stream, until its findings are known: what no finding has explained yet.
    last: Option<(u32, [u64; KINDS])>,
    ends: Ends,
}

impl Coverage {
    /// Takes a stream; its findings follow it.
    pub fn stream(&mut self, stream: &Stream) {
        self.settle();
        self.last = Some((stream.stream, loose(stream)));
        self.ends.stream(stream);
        let unlisted = stream.unlisted.iter();
        unlisted.for_each(|(id, _)| self.explains(*id, stream.stream));
    }

    /// A finding explains some of what its stream shows.
    pub fn finding(&mut self, finding: &Finding) {
        self.explains(finding.id, finding.stream);
        self.about_the_capture |= finding.id.is_about_the_capture();
    }

    fn explains(&mut self, id: Id, stream: u32) {
        if let Some((_, counts)) = self.last.as_mut().filter(|last| last.0 == stream) {
            let (events, classes) = explained(id);
            let of = |class| untold::CLASSES.iter().position(|known| known == class);
            let times = classes.iter().filter_map(of).map(|at| LOOSE.len() + at);
            let all = events.iter().copied().chain(times);
            all.for_each(|i| counts[i] = 0);
        }
        self.ends.finding(id, stream);
    }

    /// The findings of the last stream are known.
    pub fn settle(&mut self) {
        self.ends.settle();
        let Some((stream, counts)) = self.last.take() else {
            return;
        };
        for (kind, n) in self.kinds.iter_mut().zip(counts).filter(|(_, n)| *n > 0) {
            kind.add(stream, n);
        }
    }

    /// What no finding names.
    pub fn unexplained(&self) -> Vec<Unexplained> {
        self.left(|i| i != UNCLEAR)
    }

    /// Unclear or unseen packets: ACKs that may have been late, and packets that could not be read, as sentences.
    pub fn not_read(&self, totals: &Totals) -> Vec<String> {
        let unclear = self.left(|i| i == UNCLEAR).into_iter();
        let mut texts: Vec<String> = unclear.map(|left| left.text).collect();
        texts.extend(not_read(totals));
        texts
    }

    fn left(&self, which: impl Fn(usize) -> bool) -> Vec<Unexplained> {
        let (events, times) = self.kinds.split_at(LOOSE.len());
        let events = events.iter().zip(LOOSE).enumerate();
        let events = events
            .filter(|(i, (kind, _))| which(*i) && kind.count > 0)
            .map(|(_, (kind, (effect, one, many)))| {
                let noun = if kind.count == 1 { one } else { many };
                let text = format!("{} {noun} ({})", units::count(kind.count), kind.streams());
                kind.events(effect, text)
            });
        let times = times.iter().zip(untold::CLASSES).enumerate();
        let times = times
            .filter(|(i, (kind, _))| which(LOOSE.len() + i) && kind.count > 0)
            .map(|(_, (kind, class))| {
                let (time, to) = (units::micros(kind.count), went_to(class));
                let hint = untold::hint(class);
                kind.time(class, format!("{time} {to} ({}){hint}", kind.streams()))
            });
        events.chain(times).collect()
    }

    /// The text without findings, and whether it is an all-clear.
    pub(crate) fn verdict(&self, totals: &Totals, streams: u64) -> (String, bool) {
        let looked = format!(
            "{} checked for {} causes",
            units::plural(streams, "stream"),
            findings::looked_for()
        );
        let nothing = match self.about_the_capture {
            false => "No findings",
            true => "No findings about connections",
        };
        let is_left = |kinds: &[Kind]| kinds.iter().any(|kind| kind.count > 0);
        let (events, times) = self.kinds.split_at(LOOSE.len());
        let events = is_left(&events[..UNCLEAR]) || is_left(&events[UNCLEAR + 1..]);
        let left = match (events, is_left(times)) {
            (false, false) => None,
            (true, false) => Some("some packets remain unexplained"),
            (false, true) => Some("some waits remain unexplained"),
            (true, true) => Some("some packets and waits remain unexplained"),
        };
        let unchecked =
            (!self.is_all_checked(totals)).then_some("some causes could not be checked");
        let doubts: Vec<&str> = left.into_iter().chain(unchecked).collect();
        if doubts.is_empty() {
            return (format!("{nothing}: {looked}."), true);
        }
        let doubts = doubts.join(", and ");
        let text = format!("{nothing} ({looked}), but this is not an all-clear: {doubts}.");
        (text, false)
    }

    /// Time that the two ends took.
    pub fn of_ends(&self) -> Vec<Unexplained> {
        self.ends.told()
    }

    /// The line that replaces the findings when there are no findings, and how far to trust it.
    pub(super) fn all_clear(&self, theme: &Theme, totals: &Totals, streams: u64) -> String {
        let (text, is_clear) = self.verdict(totals, streams);
        if is_clear {
            let text = theme.paint(Ink::Green, &text);
            let list = theme.paint(Ink::Dim, "`tcplab help findings` lists them.");
            return format!("{text}\n  {list}\n");
        }
        theme.lines(&text, theme.width.min(100), "", Some(Ink::Yellow))
    }

    /// Every detector saw what it needs, in all packets.
    fn is_all_checked(&self, totals: &Totals) -> bool {
        totals.not_checked.is_empty() && self.not_read(totals).is_empty()
    }

    /// What no finding explains, and findings that could not be looked for.
    pub(super) fn render(&self, theme: &Theme, totals: &Totals) -> String {
        let mut out = String::new();
        let unexplained = self.unexplained();
        if !unexplained.is_empty() {
            let _ = write!(
                out,
                "\n{}\n",
                heading(theme, "Not explained", "no finding says why")
            );
            let texts = unexplained.iter().map(|left| &left.text);
            texts.for_each(|text| out += &theme.item(text));
        }
        let of_ends = self.of_ends();
        if !of_ends.is_empty() {
            let head = heading(theme, "The two ends", "no finding says more");
            let _ = write!(out, "\n{head}\n");
            let texts = of_ends.iter().map(|left| &left.text);
            texts.for_each(|text| out += &theme.item(text));
        }
        if !self.is_all_checked(totals) {
            let _ = write!(out, "\n{}\n", heading(theme, "Not checked", ""));
            self.not_read(totals)
                .iter()
                .for_each(|text| out += &theme.item(text));
            lacks(theme, totals, &mut out);
        }
        out
    }
}

/// Packets that no detector has seen, as sentences.
fn not_read(totals: &Totals) -> Vec<String> {
    let mut texts = Vec::new();
    if totals.error.is_some() {
        texts.push("The part of the file after the damage.".to_owned());
    }
    texts.extend(unreadable(totals));
    if totals.dropped > 0 {
        let frames = units::plural(totals.dropped, "frame");
        texts.push(format!(
            "{frames} that the kernel dropped: they came faster than tcplab read them."
        ));
    }
    texts.extend(came_too_late(totals));
    texts
}

/// Frames that could not be read, and why.
fn unreadable(totals: &Totals) -> Option<String> {
    let reasons = [
        (
            totals.fragments,
            "IP fragments that were not put together: a piece is missing, or the snap length cut it",
        ),
        (totals.truncated, "cut before the TCP header"),
        (totals.malformed, "with headers that contradict themselves"),
        (totals.unknown_link, "of an unsupported link type"),
    ];
    let reasons: Vec<_> = reasons.into_iter().filter(|(n, _)| *n > 0).collect();
    let frames: u64 = reasons.iter().map(|(n, _)| n).sum();
    let why = match reasons.as_slice() {
        [] => return None,
        [(_, why)] => (*why).to_owned(),
        many => {
            let each = many
                .iter()
                .map(|(n, why)| format!("{} {why}", units::count(*n)));
            each.collect::<Vec<_>>().join("; ")
        }
    };
    let verb = if frames == 1 { "was" } else { "were" };
    let frames = units::plural(frames, "frame");
    Some(format!("{frames} that {verb} unreadable ({why})."))
}

/// Packets that came after their stream was reported.
fn came_too_late(totals: &Totals) -> Option<String> {
    let packets = units::plural(totals.late_packets, "packet");
    let streams = units::plural(totals.evicted_streams, "stream");
    match (totals.late_packets, totals.evicted_streams) {
        (0, _) if !lacks_ends(totals) => None,
        (0, _) => Some(format!(
            "{streams} that were reported before their end, to bound memory (raise --max-streams): packets that came later \
             count as new streams."
        )),
        (_, 0) => Some(format!(
            "{packets} that came after their stream was reported."
        )),
        _ => Some(format!(
            "{packets} of streams that were reported before their end, to bound memory (raise --max-streams). \
             Such a stream may seem to have no answer."
        )),
    }
}

/// Whether packets came, or may have come, of streams that were reported before their end. Without a later packet, what
/// was reported early had been read whole.
pub(super) fn lacks_ends(totals: &Totals) -> bool {
    totals.evicted_streams > 0 && totals.late_packets + totals.forgotten_streams > 0
}

/// What the capture lacks, what was not looked for because of that, and how to capture it.
fn lacks(theme: &Theme, totals: &Totals, out: &mut String) {
    let mut needs: Vec<Need> = totals.not_checked.iter().map(|n| n.lacks).collect();
    needs.sort_unstable();
    needs.dedup();
    for (i, need) in needs.into_iter().enumerate() {
        let of = || totals.not_checked.iter().filter(|n| n.lacks == need);
        let streams = of().map(|n| n.streams).max().unwrap_or(0);
        let numbers = of().filter(|n| n.streams > 0).map(|n| n.stream);
        let first = numbers.min().unwrap_or(0);
        let names: Vec<String> = of().map(|n| short(n.finding.name())).collect();
        let streams = match streams {
            0 => "frames cut before the TCP header".to_owned(),
            1 => format!("stream {first}"),
            n => format!("{}, the first is {first}", units::plural(n, "stream")),
        };
        if i > 0 {
            out.push('\n');
        }
        let lacks = format!(
            "{} ({streams}). Not checked: {}.",
            need.missing(),
            names.join(", ")
        );
        labelled(theme, "Lacks", "", &lacks, out);
        labelled(theme, "Do", "", need.how_to_get(), out);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tcplab_analyze::findings::{NotChecked, Severity};
    use tcplab_analyze::report::ReadError;

    #[test]
    fn frames_that_the_kernel_dropped_have_their_name() {
        let texts = not_read(&Totals {
            dropped: 7,
            malformed: 2,
            ..Totals::default()
        });
        assert_eq!(texts.len(), 2);
        assert_eq!(
            texts[0],
            "2 frames that were unreadable (with headers that contradict themselves)."
        );
        assert!(
            texts[1].starts_with("7 frames that the kernel dropped"),
            "{texts:?}"
        );
    }

    #[test]
    fn unreadable_frames_are_told_with_each_reason() {
        let text = unreadable(&Totals {
            truncated: 1,
            unknown_link: 2_000,
            ..Totals::default()
        });
        assert_eq!(
            text.as_deref(),
            Some(
                "2,001 frames that were unreadable (1 cut before the TCP header; 2,000 of an unsupported link type)."
            )
        );
        assert_eq!(unreadable(&Totals::default()), None);
    }

    pub(in crate::terminal) fn finding(stream: u32, id: &str) -> Finding {
        Finding {
            id: Id::of(id).expect("an id"),
            severity: Severity::High,
            stream,
            packets: vec![],
            title: String::new(),
            cause: String::new(),
            remedy: vec![],
            confidence: None,
            proof: None,
        }
    }

    fn stream(number: u32, retransmissions: u64, late: u64) -> Stream {
        let mut s = Stream {
            stream: number,
            state: State::Complete,
            ..Stream::default()
        };
        s.server_to_client.retransmissions.total = retransmissions;
        s.client_to_server.acks_sent.delayed = late;
        s
    }

    fn lacking() -> Totals {
        let lack = |id: &str, streams, stream| NotChecked {
            finding: Id::of(id).expect("an id"),
            lacks: Need::Handshake,
            streams,
            stream,
        };
        Totals {
            not_checked: vec![lack("syn_retries", 3, 2), lack("quickack_exhausted", 2, 4)],
            ..Totals::default()
        }
    }

    #[test]
    fn ids_that_explain_something_are_ids() {
        let known = findings::ids().filter(|id| explained(*id) != (&[], &[]));
        assert_eq!(known.count(), 27);
    }

    #[test]
    fn an_all_clear_says_what_was_looked_at() {
        let mut coverage = Coverage::default();
        coverage.stream(&stream(0, 0, 0));
        coverage.settle();
        let text = coverage.all_clear(&Theme::default(), &Totals::default(), 12);
        let text = text.replace("\n  `tcplab help findings` lists them.", "");
        let causes = findings::looked_for();
        assert_eq!(
            text,
            format!("No findings: 12 streams checked for {causes} causes.\n")
        );
        assert_eq!(coverage.render(&Theme::default(), &Totals::default()), "");
    }

    #[test]
    fn unexplained_streams_are_no_all_clear() {
        let mut coverage = Coverage::default();
        coverage.stream(&stream(0, 95, 0));
        coverage.stream(&stream(1, 5, 7));
        coverage.finding(&finding(1, "rto_stall"));
        coverage.finding(&finding(1, "delack_nagle"));
        coverage.stream(&stream(2, 0, 59));
        coverage.finding(&finding(2, "rto_stall"));
        coverage.finding(&finding(2, "capture_artefacts"));
        coverage.stream(&Stream {
            state: State::Reset,
            ..stream(3, 1, 0)
        });
        coverage.settle();
        let totals = Totals::default();
        let text = coverage.all_clear(&Theme::default(), &totals, 4);
        let line = text.replace('\n', " ");
        assert!(line.contains("not an all-clear"), "{text}");
        let text = coverage.render(&Theme::default(), &totals);
        for part in [
            "- 96 packets were sent again (2 streams: 0, 3)",
            "- 59 ACKs were delayed (stream 2)",
            "- 1 connection was reset (stream 3)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("Not checked"), "{text}");
    }

    #[test]
    fn a_wait_for_nagle_without_a_finding_says_what_helps() {
        let waits = |explained: bool| {
            let mut coverage = Coverage::default();
            let mut s = stream(0, 0, 0);
            s.budget_us.add(Class::Nagle, 2_400_000);
            coverage.stream(&s);
            if explained {
                coverage.finding(&finding(0, "delack_nagle"));
            }
            coverage.settle();
            let left = coverage.unexplained().into_iter();
            left.map(|left| left.text).collect::<Vec<_>>().join("\n")
        };
        let text = waits(false);
        for part in ["2.40 s for Nagle's algorithm (stream 0): ", "TCP_NODELAY"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(waits(true), "");
    }

    #[test]
    fn what_is_left_has_kind_number_and_streams() {
        let mut coverage = Coverage::default();
        let mut s = stream(3, 95, 0);
        s.budget_us.add(Class::Rto, 2_400_000);
        coverage.stream(&s);
        coverage.settle();
        let left = coverage.unexplained();
        let [again, waits] = left.as_slice() else {
            panic!("{left:?}");
        };
        assert_eq!(
            (again.kind, again.count, again.time_us),
            (Effect::Retransmissions, Some(95), None)
        );
        assert_eq!(
            (waits.kind, waits.class, waits.time_us, waits.count),
            (Effect::Time, Some("rto"), Some(2_400_000), None)
        );
        assert_eq!(
            (waits.streams, waits.first_streams.as_slice()),
            (1, &[3][..])
        );
        // The client's timer waits for a place in the accept queue.
        coverage = Coverage::default();
        coverage.stream(&s);
        coverage.finding(&finding(3, "accept_queue_overflow"));
        coverage.settle();
        assert!(coverage.unexplained().is_empty());
    }

    #[test]
    fn unlisted_finding_explains_its_stream() {
        let mut coverage = Coverage::default();
        let mut s = stream(0, 3, 0);
        let id = Id::of("loss").expect("an id");
        s.unlisted = vec![(id, Severity::Medium)];
        coverage.stream(&s);
        coverage.settle();
        assert!(coverage.unexplained().is_empty());
    }

    #[test]
    fn finding_about_the_capture_is_no_contradiction() {
        let mut coverage = Coverage::default();
        coverage.stream(&stream(0, 0, 0));
        coverage.finding(&finding(0, "capture_artefacts"));
        coverage.settle();
        let text = coverage.verdict(&Totals::default(), 1).0;
        assert!(
            text.starts_with("No findings about connections: "),
            "{text}"
        );
    }

    #[test]
    fn streams_reported_early_are_a_doubt_if_packets_came_later() {
        let totals = |late_packets, forgotten_streams| Totals {
            evicted_streams: 5,
            late_packets,
            forgotten_streams,
            ..Totals::default()
        };
        assert_eq!(not_read(&totals(0, 0)), [""; 0]);
        for (totals, says) in [
            (totals(40, 0), "40 packets of streams that were reported"),
            (
                totals(0, 2),
                "5 streams that were reported before their end",
            ),
        ] {
            let texts = not_read(&totals);
            assert!(
                lacks_ends(&totals) && texts[0].starts_with(says),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn unchecked_findings_are_listed_with_a_remedy() {
        let (theme, totals) = (Theme::default(), lacking());
        let coverage = Coverage::default();
        let text = coverage.all_clear(&theme, &totals, 5);
        let line = text.replace('\n', " ");
        assert!(line.contains("some causes could not be checked"), "{text}");
        let text = coverage
            .render(&theme, &totals)
            .replace("\n          ", " ");
        for part in [
            "the handshake (3 streams, the first is 2)",
            "Not checked: SYN retries, left quick-ACK mode.",
            "Start the capture before the connection begins",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn acks_that_may_have_been_late_are_a_doubt() {
        let mut coverage = Coverage::default();
        let mut s = stream(0, 0, 0);
        s.client_to_server.acks_sent.unclear = 81;
        coverage.stream(&s);
        coverage.settle();
        let totals = Totals::default();
        let text = coverage.all_clear(&Theme::default(), &totals, 1);
        assert!(text.contains("checked"), "{text}");
        assert!(!text.contains("something"), "{text}");
        let text = coverage.render(&Theme::default(), &totals);
        assert!(text.contains("- 81 ACKs may have waited"), "{text}");
    }

    #[test]
    fn damaged_file_or_unread_frames_are_no_all_clear() {
        let damaged = Totals {
            error: Some(ReadError {
                offset: 7,
                message: "cut".into(),
            }),
            ..Totals::default()
        };
        let unread = Totals {
            malformed: 3,
            ..Totals::default()
        };
        for totals in [damaged, unread] {
            let text = Coverage::default().all_clear(&Theme::default(), &totals, 1);
            assert!(text.contains("not an all-clear"), "{text}");
            let text = Coverage::default().render(&Theme::default(), &totals);
            assert!(text.contains("Not checked"), "{text}");
        }
    }
}
