//! Links that nobody chose: rates, delays, losses, changes, middle boxes and forged segments.

use tcplab_plan::Point;
use tcplab_plan::point::{
    Change, Direction, Does, Event, Inject, Injected, Of, RateTrace, Rewrite, TcpOption,
};

use super::{Draw, MS};

impl Draw {
    pub(super) fn link(&mut self, point: &mut Point, ecn: bool) {
        let link = &mut point.links[0];
        let delay = self.one_of(&[0, 50, 1_000, 5_000, 20_000, 50_000, 120_000]) * 1_000;
        let rate = self.maybe(30, |d| d.one_of(&[1_u64, 5, 20, 100]) * 1_000_000);
        let limit = self.one_of(&[8, 25, 100, 1_000]) as u32;
        let jitter = self
            .maybe(8, |d| d.one_of(&[100, 2_000]) * 1_000)
            .unwrap_or(0);
        let loss = self.maybe(12, |d| (1 + d.up_to(50) as u32) * 1_000_000);
        let listed = self.percent(65);
        for way in [&mut link.a_to_b, &mut link.b_to_a] {
            way.delay_ns = delay;
            way.rate_bps = rate;
            way.limit_pkts = limit;
            way.jitter_ns = jitter.min(delay);
            way.loss_ppb = loss.unwrap_or(0);
            if listed {
                self.events(way, ecn);
            }
            if self.percent(6) {
                way.changes = self.changes(delay);
            }
            if self.percent(4) {
                way.middlebox = self.middlebox();
            }
            if self.percent(3) {
                way.injects = self.injects();
            }
            if self.percent(3) && way.changes.is_empty() {
                way.rate_bps = None;
                way.rate_trace = Some(self.trace());
            }
        }
    }

    /// One or two changes of a way during the transfer.
    fn changes(&mut self, delay_ns: i64) -> Vec<Change> {
        let first = self.one_of(&[20, 90, 300, 1_200]) * MS;
        let later = self.percent(40).then_some(first + 200 * MS);
        let times = [Some(first), later].into_iter().flatten();
        times
            .map(|at_ns| Change {
                at_ns,
                rate_bps: self.maybe(60, |d| d.one_of(&[1_u64, 4, 30, 200]) * 1_000_000),
                delay_ns: Some(delay_ns.max(self.one_of(&[1, 8, 60]) * MS)),
                loss_ppb: self.maybe(20, |d| d.up_to(30) as u32 * 1_000_000),
                ..Change::default()
            })
            .collect()
    }

    /// What a middle box does.
    fn middlebox(&mut self) -> Vec<Rewrite> {
        use TcpOption::{Mss, Sack, SackPermitted, Timestamp, Wscale};
        let rule = match self.up_to(7) {
            0 => Rewrite::StripOptions(vec![self.one_of(&[Mss, Wscale])]),
            1 => Rewrite::StripOptions(vec![SackPermitted]),
            2 => Rewrite::StripOptions(vec![Timestamp, Sack]),
            3 => Rewrite::SetMss(self.size(400, 1_400) as u16),
            4 => Rewrite::EcnTcpRemove,
            5 => Rewrite::EcnIpEct(self.up_to(3) as u8),
            6 => Rewrite::DropOptions(vec![Sack]),
            _ => Rewrite::DropEcnSyn,
        };
        vec![rule]
    }

    /// A segment or two that nobody sent.
    fn injects(&mut self) -> Vec<Inject> {
        let first = self.one_of(&[10, 60, 250, 1_100]) * MS;
        let later = self.percent(40).then_some(first + 15 * MS);
        let times = [Some(first), later].into_iter().flatten();
        times
            .map(|at_ns| Inject {
                at_ns,
                what: match self.up_to(5) {
                    0..=1 => Injected::Rst,
                    2 => Injected::Syn,
                    3 => Injected::Fin,
                    4 => Injected::Data(self.size(1, 1_200) as u16),
                    _ => Injected::Ack,
                },
                seq: self.one_of(&[0, 0, 1, -1, 1_000, -5_000, 2_000_000]),
                ack: 0,
            })
            .collect()
    }

    /// A rate that wanders.
    fn trace(&mut self) -> RateTrace {
        let mut at_ms = 0;
        let mut gap = self.one_of(&[1, 3, 12]);
        let times = (0..200).map(|_| {
            if self.percent(5) {
                gap = self.one_of(&[0, 1, 3, 12, 60]);
            }
            at_ms += gap;
            at_ms
        });
        let mut at_ms: Vec<u32> = times.collect();
        at_ms.push(at_ms.last().map_or(1, |last| last + 1));
        RateTrace {
            file: "drawn".to_owned(),
            at_ms,
        }
    }

    fn events(&mut self, way: &mut Direction, ecn: bool) {
        for _ in 0..self.up_to(3) {
            let of = match self.up_to(9) {
                0..=5 => Of::Data,
                6..=7 => Of::Ack,
                8 => Of::Frame,
                _ => self.one_of(&[Of::Syn, Of::Fin]),
            };
            let first = match of {
                Of::Syn | Of::Fin => 1,
                _ => self.size(1, 80),
            };
            let more = self.one_of(&[0, 0, 0, 1, 2, 5, 12]);
            let does = match self.up_to(9) {
                8 if ecn => Does::Mark,
                0..=5 => Does::Drop,
                6 => Does::Duplicate,
                _ => Does::DelayNs(self.one_of(&[1, 5, 15, 40, 130, 400]) * MS),
            };
            let last = first + more;
            way.events.push(Event {
                of,
                first,
                last,
                does,
            });
        }
    }
}
