//! From the state of a connection to the report.

use tcplab_base::{Duration, Instant, Samples};

use super::ack::TIMER_US;
use super::dir::{PROVEN, Rare};
use super::window::Scale;
use super::{AckStats, Connection, Dir, Events, Record, round_trip};
use crate::budget::{Account, Class};
use crate::report::{
    AckMode, AcksSent, Artefact, Direction, Episode, EpisodeKind, Handshake, Retransmissions,
    RoundTrip, Rtt, Spread, State, Stream, Totals, Vantage,
};
use crate::trace::AckClass;

/// Fewest ACKs in a stretch of one ACK mode that gets a line.
const STRETCH: u32 = 3;
/// Most episodes that a report lists for one direction; later ones are counted.
const LISTED: usize = 256;

/// A message that nothing answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub packet: u64,
    /// When its first data passed.
    pub began: Instant,
    /// When the last data of it passed.
    pub sent: Instant,
    /// When the connection began to close, or its last packet passed.
    pub until: Instant,
    /// It began to close.
    pub closed: bool,
}

impl Connection {
    /// It is reported before its end, to make room for others.
    pub(crate) fn was_dropped_early(&self) -> bool {
        let tracker = self.tracker.as_deref();
        tracker.is_some_and(crate::budget::Tracker::was_dropped_early)
    }

    /// The last message of this side, if nothing answered it.
    pub(crate) fn unanswered(&self, of_a: bool) -> Option<Asked> {
        let tracker = self.tracker.as_deref()?;
        let (packet, [began, sent], fin) = tracker.unanswered(usize::from(!of_a))?;
        let at = |us: u64| self.start + Duration::from_micros(i64::try_from(us).unwrap_or(0));
        Some(Asked {
            packet,
            began: at(began),
            sent: at(sent),
            until: fin.map_or(self.last, at),
            closed: fin.is_some(),
        })
    }

    /// Ends what is still open, for the report.
    pub(crate) fn close(&mut self) {
        let here = [0, 1].map(|d| self.dirs[d].is_here(&self.dirs[1 - d]));
        for (i, (dir, here)) in self.dirs.iter_mut().zip(here).enumerate() {
            if let Some(loss) = dir.loss.as_deref_mut() {
                loss.episodes.close(None);
            }
            if let Some(load) = dir.load_mut()
                && let Some(passed) = load.passed.as_deref()
            {
                load.bucket = Events::of(&[passed]).bucket();
            }
            if let Some(class) = dir.settle()
                && let Some(trace) = self.trace.as_deref_mut()
            {
                trace.settle(i == 0, class);
            }
            if let Some(rounds) = dir.rounds.as_deref_mut() {
                rounds.close(dir.nxt, dir.fin_seen || (here && dir.una == dir.nxt));
            }
        }
        if let (Some(turns), Some(talker)) = (self.turns.as_deref_mut(), self.talker) {
            turns.close(usize::from(talker), &self.dirs);
        }
        self.settle_roles();
    }

    /// The report; its time is added to that of the capture. Call [`Connection::close`] first.
    pub(crate) fn report(&mut self, totals: &mut Totals) -> Stream {
        let client = self.client_index();
        let ends = [self.key.a, self.key.b];
        let (account, duration_us) = self.account(client);
        totals.budget_us.add_all(&account.budget);
        totals.waited_us.add_all(&account.waited());
        let [a, b] = &self.dirs;
        let scales = [Scale::of(a, b), Scale::of(b, a)];
        let unanswered = [b.packets == 0, a.packets == 0];
        let [a, b] = &mut self.dirs;
        let trips = [round_trip::of_data(a), round_trip::of_data(b)];
        let round_trip = self.round_trip(trips);
        let h = &self.handshake;
        let seen = h.syn_at.is_some() || h.synack_at.is_some();
        let mut stream = Stream {
            stream: self.stream,
            client: ends[client].text(),
            server: ends[1 - client].text(),
            start_ns: self.start.as_nanos(),
            duration_us,
            state: self.state(),
            handshake: seen.then_some(Handshake {
                syn_retransmissions: h.syns_again,
                synack_retransmissions: h.synacks_again,
                server_rtt_us: h.server_rtt_us,
                client_rtt_us: h.client_rtt_us,
                caqm: h.caqm.report(),
            }),
            vantage: self.vantage(),
            round_trip,
            reported_early: false,
            artefacts: self.artefacts(),
            not_checked: Vec::new(),
            unlisted: Vec::new(),
            budget_us: account.budget,
            requests: account.requests,
            requests_not_listed: account.not_listed,
            client_to_server: Box::new(direction(
                &mut self.dirs[client],
                scales[client],
                trips[client],
                unanswered[client],
            )),
            server_to_client: Box::new(direction(
                &mut self.dirs[1 - client],
                scales[1 - client],
                trips[1 - client],
                unanswered[1 - client],
            )),
        };
        if self.is_untimed() {
            self.without_times(&mut stream);
        }
        stream
    }

    /// Where the time went. The spans go to the trace.
    fn account(&mut self, client: usize) -> (Account, u64) {
        let duration_us = self.last.since(self.start).as_micros().max(0) as u64;
        let mut account = match self.tracker.take() {
            // One side alone shows neither who waited nor for what.
            Some(_) if self.is_one_sided() || self.is_untimed() || self.is_shuffled() => {
                Account::unknown(duration_us)
            }
            Some(tracker) => tracker.close(&self.dirs, client, (self.start, duration_us)),
            None => Account::unknown(duration_us),
        };
        self.put_right(&mut account);
        // Packets of which nothing but the header's fields is known tell nothing.
        let rest = duration_us.saturating_sub(account.budget.total());
        account.budget.add(Class::Unknown, rest);
        let ahead = self.clock_step().filter(|step| !step.back);
        if let Some(step) = ahead {
            let us = |d: Duration| d.as_micros().max(0) as u64;
            account.skip(us(step.after.since(self.start)), us(step.by));
            if let Some(trace) = &mut self.trace {
                trace.skip(step.packet, step.by);
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.spans = std::mem::take(&mut account.spans);
        }
        let duration_us = account.budget.total();
        (account, duration_us)
    }

    /// Only the packets of one side are there, and they show that the other one answered.
    fn is_one_sided(&self) -> bool {
        let [a, b] = &self.dirs;
        let h = &self.handshake;
        let opening = match (h.syn_at.is_some(), h.synack_at.is_some()) {
            (true, _) => 1 + h.syns_again,
            (false, true) => 1 + h.synacks_again,
            (false, false) => 0,
        };
        // A RST alone answers nothing.
        let opening = opening + u32::from(h.reset);
        !self.is_told() && a.packets.min(b.packets) == 0 && a.packets.max(b.packets) > opening
    }

    /// An ICMP error came: an answer of the other direction.
    fn is_told(&self) -> bool {
        self.dirs.iter().any(|d| d.icmp().is_some())
    }

    /// Half of the connection is there, and goes on after its RST.
    fn is_reset_in_doubt(&self) -> bool {
        let doubtful = |i: usize| {
            let reset = self.dirs[i]
                .rare
                .as_deref()
                .and_then(|r| r.reset.as_deref());
            reset.is_some_and(|r| r.is_doubtful(&self.dirs[1 - i]))
        };
        doubtful(0) || doubtful(1)
    }

    fn state(&self) -> State {
        let h = &self.handshake;
        if h.refused {
            State::Refused
        } else if h.reset && !self.is_reset_in_doubt() {
            State::Reset
        } else if h.syn_at.is_some() && h.synack_at.is_none() && !h.done && !self.is_one_sided() {
            State::HalfOpen
        } else if self.over && h.syn_at.is_some() {
            State::Complete
        } else if h.syn_at.is_some() || h.synack_at.is_some() {
            State::Open
        } else {
            State::Middle
        }
    }

    /// Where the capture was taken: near the side whose answers come soonest.
    pub(crate) fn vantage(&self) -> Vantage {
        let client = self.client_index();
        let path = |d: &Dir| if d.knows_path() { d.path_us } else { u32::MAX };
        let (c, s) = (path(&self.dirs[client]), path(&self.dirs[1 - client]));
        let near = |a: u32, b: u32| u64::from(a) * 4 < u64::from(b);
        match (c, s) {
            (u32::MAX, _) | (_, u32::MAX) => Vantage::Unknown,
            _ if near(c, s) => Vantage::Client,
            _ if near(s, c) => Vantage::Server,
            _ if c.max(s) < 200 => Vantage::Unknown,
            _ => Vantage::Between,
        }
    }

    pub(crate) fn artefacts(&self) -> Vec<Artefact> {
        let mut list = Vec::new();
        let rare = |f: fn(&Rare) -> bool| self.dirs.iter().filter_map(|d| d.rare.as_deref()).any(f);
        let [a, b] = &self.dirs;
        let busy = a.packets.max(b.packets) >= 4;
        if rare(|r| r.joined_segments > 0) {
            list.push(Artefact::SuperSegments);
        }
        let one_sided = a.packets.min(b.packets) == 0;
        if one_sided && !self.is_told() && (busy || self.is_one_sided()) {
            list.push(Artefact::OneDirection);
        }
        let cut = self.lacks_fragments();
        if !one_sided && !cut && rare(|r| r.missed.bytes > 0) {
            list.push(Artefact::MissedPackets);
        }
        if self.dirs.iter().any(|d| d.has_copies(2)) {
            list.push(Artefact::Duplicates);
        }
        if self.out_of_order() > 0 {
            list.push(Artefact::TimeOutOfOrder);
        }
        if rare(|r| r.truncated > 0) {
            list.push(Artefact::Snapped);
        }
        if cut {
            list.push(Artefact::CutFragments);
        }
        list
    }

    /// The snap length cut fragments, which could not be put together.
    pub(crate) fn lacks_fragments(&self) -> bool {
        let mut sides = self.dirs.iter().filter_map(Dir::seldom);
        sides.any(|s| s.cut_fragments > 0)
    }
}

impl Dir {
    /// Judges the ACKs that could not be judged while the path was not known, and gives their class.
    fn settle(&mut self) -> Option<AckClass> {
        let acks = self.acks.as_mut()?;
        acks.unclear()?;
        if acks.shows_timer(self.path_us) {
            self.path_proofs = PROVEN;
        }
        let known = self.path_us < TIMER_US || self.path_proofs >= PROVEN;
        if known {
            acks.settle(self.path_us)
        } else {
            None
        }
    }
}

/// What one side sent; `unanswered`: the capture has nothing of the other one.
fn direction(d: &mut Dir, scale: Scale, trip: Option<RoundTrip>, unanswered: bool) -> Direction {
    // What comes again is new where no ACK tells that it was there.
    let told = !unanswered || d.data_segments == 0;
    let times = d.rtt.as_mut();
    let [by_ack, by_ts] = times.map_or([None; 2], |r| {
        let by_ts = Some(&mut r.by_ts).filter(|s| !s.is_empty());
        [Some(rtt(&mut r.by_ack)), by_ts.map(rtt)]
    });
    let acks_sent = acks_sent(d);
    let loss = d.loss.as_deref();
    let rare = |field: fn(&Rare) -> u32| u64::from(d.rare.as_deref().map_or(0, field));
    let tally = d.tally();
    let (low, high) = d.window_range;
    Direction {
        packets: u64::from(d.packets),
        data_segments: u64::from(d.data_segments),
        data_bytes: d.data_bytes,
        retransmissions: loss.map_or_else(Retransmissions::default, |l| Retransmissions {
            total: l.total(),
            fast: l.fast.into(),
            rto: l.rto.into(),
            tlp: l.tlp.into(),
            other: l.other.into(),
            spurious: l.spurious.into(),
            unneeded: l.unneeded.into(),
        }),
        out_of_order: u64::from(tally.out_of_order),
        duplicate_acks: u64::from(tally.duplicate_acks),
        lost_segments: u64::from(tally.lost_segments),
        zero_windows: u64::from(tally.zero_windows),
        rtt_us: by_ack.unwrap_or_default(),
        acks_sent,
        unique_bytes: told.then_some(d.unique_bytes),
        goodput_bps: if told { goodput(d) } else { 0 },
        data_ns: (d.first_data.get())
            .map(|first| (first.as_nanos(), d.last_data.max(d.last_acked()).as_nanos())),
        max_payload_bytes: u64::from(d.max_payload),
        // A SYN takes a sequence number, and is no byte of data.
        max_in_flight_bytes: told.then_some(match d.data_segments {
            0 => 0,
            _ => d.max_in_flight.into(),
        }),
        window_bytes: (low <= high).then(|| (u64::from(low), u64::from(high))),
        window_unscaled: !scale.known && low <= high,
        window_scale_at_least: scale.at_least,
        mss: d.mss,
        window_scale: d.window_scale,
        sack_permitted: d.sack_permitted,
        timestamps: d.timestamps,
        dsacks: rare(|r| r.dsacks),
        zero_window_probes: rare(|r| r.zero_window_probes),
        copies: d.all_copies(),
        keep_alives: rare(|r| r.keep_alives),
        window_updates: u64::from(tally.window_updates),
        window_full: u64::from(tally.window_full),
        round_trip: trip,
        rtt_ts_us: by_ts,
        ecn_ect: rare(|r| r.ecn_ect),
        ecn_ce: rare(|r| r.ecn_ce),
        ecn_ece: rare(|r| r.ecn_ece),
        ecn_cwr: rare(|r| r.ecn_cwr),
        caqm: rare(|r| r.caqm_tags.as_ref().map_or(0, |t| t.packets)),
        caqm_tags: d.caqm().map(|tags| Box::new(tags.seen)),
        episodes: loss
            .map(|l| l.episodes.ended.iter().take(LISTED).map(episode).collect())
            .unwrap_or_default(),
        episodes_not_listed: loss.map_or(0, |l| l.episodes.count().saturating_sub(LISTED as u64)),
    }
}

pub(super) fn rtt(samples: &mut Samples) -> Rtt {
    let q = samples.quantiles();
    Rtt {
        min: q.min,
        p50: q.p50,
        p95: q.p95,
        max: q.max,
        samples: q.samples,
    }
}

fn spread(samples: &mut Samples) -> Spread {
    let q = samples.quantiles();
    Spread {
        min: q.min,
        p50: q.p50,
        max: q.max,
    }
}

fn acks_sent(d: &mut Dir) -> AcksSent {
    let path_us = d.knows_path().then_some(d.path_us);
    let Some(a) = d.acks.as_mut() else {
        return AcksSent::default();
    };
    AcksSent {
        total: a.total(),
        immediate: a.immediate.into(),
        second_segment: a.second_segment.into(),
        delayed: a.delayed.into(),
        piggybacked: a.piggybacked.into(),
        other: a.other.into(),
        first_delayed_segment: a.first_delayed_segment.map(u64::from),
        immediate_us: spread(&mut a.immediate_us),
        delayed_us: a
            .evidence
            .as_mut()
            .map(|e| spread(&mut e.delayed_us))
            .unwrap_or_default(),
        path_us,
        unclear: a.unclear().map_or(0, |u| u.acks.into()),
        unclear_us: a
            .unclear()
            .map(|u| spread(&mut u.evidence.delayed_us.clone())),
        since_last_us: a
            .evidence
            .as_mut()
            .filter(|e| !e.since_last_us.is_empty())
            .map(|e| spread(&mut e.since_last_us)),
        modes: modes(a),
    }
}

/// The stretches, without flickers; nothing when there was only one mode.
fn modes(a: &AckStats) -> Vec<AckMode> {
    let stretches = || a.modes.iter().filter(|s| s.acks >= STRETCH);
    let first = stretches().next().map(|s| s.mode);
    let mut modes: Vec<AckMode> = Vec::new();
    if a.delayed == 0 && stretches().all(|s| Some(s.mode) == first) {
        return modes;
    }
    for s in stretches() {
        let mean = u32::try_from(s.sum_us / u64::from(s.acks.max(1))).unwrap_or(u32::MAX);
        match modes.last_mut() {
            Some(last) if last.mode == s.mode => last.acks += u64::from(s.acks),
            _ => modes.push(AckMode {
                mode: s.mode,
                from_segment: u64::from(s.from_segment),
                from_byte: s.from_byte,
                acks: u64::from(s.acks),
                mean_us: mean,
            }),
        }
    }
    modes
}

/// Unique payload over the time between the first and the last data packet.
fn goodput(d: &Dir) -> u64 {
    let Some(first) = d.first_data.get() else {
        return 0;
    };
    let length = d.last_data.since(first);
    if length <= Duration::ZERO {
        return 0;
    }
    let bits = u128::from(d.unique_bytes) * 8 * 1_000_000_000;
    u64::try_from(bits / length.as_nanos().unsigned_abs() as u128).unwrap_or(u64::MAX)
}

fn episode(r: &Record) -> Episode {
    Episode {
        kind: r.kind.unwrap_or(EpisodeKind::Other),
        packet: r.packet,
        start_ns: r.start.as_nanos(),
        duration_us: r.duration.map(|d| d.as_micros().max(0) as u64),
        retransmissions: r.retransmissions,
        spurious: r.spurious(),
    }
}
