//! One connection of a population: its draws, and the point that runs it alone.

use serde::Serialize;
use tcplab_base::Random;

use super::limits::{FRAME, MAX_REQUESTS};
use super::paths::{self, Changed, Forged};
use super::{Loss, Population};
use crate::app::{App, AppKind, Listening, Reading};
use crate::dist::{Base, Dist};
use crate::point::{
    BurstLoss, By, Direction, Faults, Host, Link, Outage, Point, SocketOptions, Spikes,
};

use crate::rules::MAX_TIME_NS;

/// The run goes on for so long after its applications have ended: a server that has closed may still send again.
const LINGER_NS: i64 = 120_000_000_000;
/// A run ends here in any case.
const MAX_NS: i64 = 3_600_000_000_000;
/// The FIFO counts bytes; this many frames are no bound.
const NO_LIMIT: u32 = 10_000_000;
/// The hosts of a point: their indices.
const SERVER: usize = 0;
const CLIENT: usize = 1;

/// How a path loses packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// Only by full queues and outages.
    None,
    /// Each packet by itself, at this rate in billionths (10^-9).
    Independent(u32),
    /// In bursts, at this mean rate.
    Bursts(u32),
}

/// What was drawn for a connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its number, from 0.
    pub number: u64,
    /// Seed of the streams of its network.
    pub seed: u64,
    /// Round-trip time without queues.
    pub rtt_ns: i64,
    /// Rate of the bottleneck.
    pub rate_bps: u64,
    /// Bytes of its queue.
    pub buffer_bytes: u64,
    /// Mean of the jitter.
    pub jitter_ns: i64,
    /// How it loses packets.
    pub loss: LossKind,
    /// When every packet is lost.
    pub outage: Option<Outage>,
    /// Index of the path's middle box in [`Population::middleboxes`], if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middlebox: Option<usize>,
    /// How the path changes, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Changed>,
    /// What is sent into the connection, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inject: Option<Forged>,
    /// Which kind of client, by its place in [`Population::clients`].
    pub client: usize,
    /// Bytes of each request.
    pub request_bytes: u64,
    /// Bytes of each response.
    pub responses: Vec<u64>,
    /// Time before each request but the first.
    pub think_ns: Vec<i64>,
    /// How long the client waits.
    pub client_timeout_ns: i64,
    /// How long the server waits.
    pub server_timeout_ns: i64,
    /// What happens to data packets by chance.
    pub faults: Faults,
}

/// Draws by key: each has a stream of its own, so that a change of one moves no other.
pub(super) struct Draws {
    seed: u64,
    base: Base,
}

impl Draws {
    pub(super) fn stream(&self, key: &str) -> Random {
        Random::stream(self.seed, key)
    }

    pub(super) fn one(&self, key: &str, dist: &Dist) -> i64 {
        dist.draw(&mut self.stream(key), &self.base)
    }

    fn many(&self, key: &str, dist: &Dist, n: usize) -> Vec<i64> {
        let mut random = self.stream(key);
        (0..n).map(|_| dist.draw(&mut random, &self.base)).collect()
    }
}

impl Population {
    /// The streams of connection `number`, with its RTT and rate.
    pub(super) fn draws(&self, number: u64) -> Draws {
        let mut draws = Draws {
            seed: Random::seed_of(self.seed, number),
            base: Base {
                rtt_ns: 0,
                rate_bps: 0,
            },
        };
        draws.base.rtt_ns = draws.one("rtt", &self.rtt).max(0);
        draws.base.rate_bps = draws.one("rate", &self.rate).max(1) as u64;
        draws
    }

    /// The draws of connection `number`.
    pub fn draw(&self, number: u64) -> Drawn {
        let draws = self.draws(number);
        let requests = draws.one("requests", &self.requests).clamp(1, MAX_REQUESTS) as usize;
        let responses = draws.many("response", &self.response, requests);
        let jitter_ns = draws.one("jitter", &self.jitter).max(0);
        let mut faults = self.faults(&draws);
        faults.exponential_jitter_ns = jitter_ns;
        let loss = self.loss(&draws, &mut faults);
        Drawn {
            number,
            seed: draws.seed,
            rtt_ns: draws.base.rtt_ns,
            rate_bps: draws.base.rate_bps,
            buffer_bytes: draws.one("buffer", &self.buffer).max(FRAME) as u64,
            jitter_ns,
            loss,
            outage: self.outage_of(&draws),
            middlebox: paths::middlebox_of(&self.middleboxes, &draws),
            change: paths::change_of(&self.changes, &draws),
            inject: paths::inject_of(&self.injects, &draws),
            client: self.client_of(&draws),
            request_bytes: draws.one("request", &self.request).max(1) as u64,
            responses: responses.iter().map(|n| (*n).max(1) as u64).collect(),
            think_ns: draws.many("think", &self.think, requests - 1),
            client_timeout_ns: draws.one("client_timeout", &self.client_timeout).max(1),
            server_timeout_ns: draws.one("server_timeout", &self.server_timeout).max(1),
            faults,
        }
    }

    /// What happens to data packets by chance, but for losses and jitter.
    fn faults(&self, draws: &Draws) -> Faults {
        let mut faults = Faults {
            spikes: self.spikes_of(self.spikes.data_ppb),
            ..Faults::default()
        };
        if let Some(rule) = &self.reordering {
            let least = draws.one("reordering/least", &rule.least).max(0);
            faults.reorder_ppb = rule.data_ppb;
            faults.reorder_least_ns = least;
            faults.reorder_ns = draws.one("reordering/most", &rule.most).max(least);
        }
        faults
    }

    fn spikes_of(&self, chance_ppb: u32) -> Option<Spikes> {
        (chance_ppb > 0).then_some(Spikes {
            chance_ppb,
            median_ns: self.spikes.median_ns,
            sigma_ppm: self.spikes.sigma_ppm,
        })
    }

    fn loss(&self, draws: &Draws, faults: &mut Faults) -> LossKind {
        let Some((kind, rate_ppb)) = self.loss_rate(draws) else {
            return LossKind::None;
        };
        let loss = &self.losses[kind];
        let rate_ppb = rate_ppb.min(loss.most_ppb());
        match loss.burst_ppm {
            None => LossKind::Independent(rate_ppb),
            Some(burst) => {
                faults.burst_loss = Some(gilbert_elliott(loss, rate_ppb, burst));
                LossKind::Bursts(rate_ppb)
            }
        }
    }

    fn outage_of(&self, draws: &Draws) -> Option<Outage> {
        let rule = self.outage.as_ref()?;
        let mut chance = draws.stream("outage");
        if !chance.chance(rule.share_ppb) {
            return None;
        }
        let from_ns = draws.one("outage/start", &rule.start).max(0);
        let length = draws.one("outage/length", &rule.length).max(0);
        let is_final = chance.chance(rule.final_ppb);
        let until_ns = from_ns
            .saturating_add(length)
            .min(MAX_TIME_NS.cast_signed());
        // Leave out an outage of no length.
        (is_final || until_ns > from_ns).then_some(Outage {
            from_ns,
            until_ns: (!is_final).then_some(until_ns),
        })
    }

    fn client_of(&self, draws: &Draws) -> usize {
        let shares = self.clients.iter().map(|client| client.share_ppb);
        chosen(&mut draws.stream("client"), shares).unwrap_or(0)
    }

    /// The point that runs a connection alone: a server (host 0, to be replaced by an arm's) and a client.
    pub fn point(&self, drawn: &Drawn) -> Point {
        let client = self.clients.get(drawn.client);
        Point {
            experiment: self.name.clone(),
            seed: drawn.seed,
            ip: self.ip,
            hosts: vec![host("server", None), host("client", client)],
            links: vec![self.link(drawn)],
            apps: vec![web(drawn)],
            linger_ns: LINGER_NS,
            max_ns: MAX_NS,
            snap_bytes: 128,
            ..Point::default()
        }
    }

    /// The path of a connection.
    fn link(&self, drawn: &Drawn) -> Link {
        let down = Direction {
            rate_bps: Some(drawn.rate_bps),
            delay_ns: drawn.rtt_ns / 2,
            limit_pkts: NO_LIMIT,
            limit_bytes: Some(drawn.buffer_bytes),
            loss_ppb: match drawn.loss {
                LossKind::Independent(ppb) => ppb,
                _ => 0,
            },
            faults: drawn.faults,
            outages: drawn.outage.into_iter().collect(),
            middlebox: drawn
                .middlebox
                .and_then(|kind| self.middleboxes.get(kind))
                .map(|kind| kind.rules.clone())
                .unwrap_or_default(),
            ..Direction::default()
        };
        let up = Direction {
            delay_ns: drawn.rtt_ns - drawn.rtt_ns / 2,
            loss_ppb: self.ack_loss(drawn),
            faults: Faults {
                exponential_jitter_ns: drawn.jitter_ns,
                spikes: self.spikes_of(self.spikes.ack_ppb),
                ..Faults::default()
            },
            ..down.clone()
        };
        let mut link = Link {
            a: SERVER,
            b: CLIENT,
            by: By::Tcplab,
            mtu: 1500,
            a_to_b: down,
            b_to_a: up,
        };
        if let Some(change) = drawn.change {
            paths::put_change(&mut link, change);
        }
        if let Some(forged) = drawn.inject
            && let Some(rule) = self.injects.get(forged.kind)
        {
            paths::put_inject(&mut link, rule, forged.at_ns);
        }
        link
    }

    /// Chance of loss on the way of the ACKs: each by itself.
    fn ack_loss(&self, drawn: &Drawn) -> u32 {
        let (LossKind::Independent(ppb) | LossKind::Bursts(ppb)) = drawn.loss else {
            return 0;
        };
        (u64::from(ppb) * u64::from(self.ack_loss_ppb) / 1_000_000_000) as u32
    }
}

fn host(name: &str, client: Option<&super::Client>) -> Host {
    Host {
        name: name.to_owned(),
        sysctl: client.map(|c| c.sysctl.clone()).unwrap_or_default(),
        socket: client.map(|c| c.socket.clone()).unwrap_or_default(),
        profile: client.and_then(|c| c.profile.clone()),
        behaviour: client.map(|c| c.behaviour.clone()).unwrap_or_default(),
        ..Host::default()
    }
}

fn web(drawn: &Drawn) -> App {
    App {
        name: "web".to_owned(),
        group: None,
        client: CLIENT,
        server: SERVER,
        port: 80,
        start_ns: 0,
        connections: 1,
        stagger_ns: 0,
        changes: Vec::new(),
        client_socket: SocketOptions::default(),
        server_socket: SocketOptions::default(),
        client_timeout_ns: Some(drawn.client_timeout_ns),
        server_timeout_ns: Some(drawn.server_timeout_ns),
        fastopen: false,
        server_connects_ns: None,
        listening: Listening::default(),
        reading: Reading::default(),
        does: AppKind::Web {
            request: drawn.request_bytes,
            sizes: drawn.responses.clone(),
            think_ns: drawn.think_ns.clone(),
        },
    }
}

/// Draws one of `shares`, each in billionths (10^-9); `None` when the draw lies beyond their sum.
pub(super) fn chosen(random: &mut Random, shares: impl Iterator<Item = u32>) -> Option<usize> {
    let mut drawn = random.below(1_000_000_000);
    for (place, share) in shares.enumerate() {
        match drawn.checked_sub(u64::from(share)) {
            Some(rest) => drawn = rest,
            None => return Some(place),
        }
    }
    None
}

/// The chain whose mean loss is `rate` and whose bad state is left after a mean of `burst` packets.
fn gilbert_elliott(loss: &Loss, rate_ppb: u32, burst_ppm: u64) -> BurstLoss {
    const ALL: u64 = 1_000_000_000;
    let back = ALL * 1_000_000 / burst_ppm.max(1_000_000);
    // Part of the packets that meet the bad state.
    let bad = (u64::from(rate_ppb) * ALL / u64::from(loss.bad_ppb)).min(ALL - 1);
    let there = (back * bad / (ALL - bad)).min(ALL);
    BurstLoss {
        good_to_bad_ppb: there as u32,
        bad_to_good_ppb: back as u32,
        loss_bad_ppb: loss.bad_ppb,
        loss_good_ppb: 0,
    }
}
