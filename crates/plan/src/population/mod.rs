//! A population of connections: what each is drawn from, and the arms that all of them go through.
//!
//! A connection is a path, a client and a list of requests. Its draws depend on the population's seed and its number
//! only: every arm sees the same network, and any connection can be run again alone.

mod draw;
mod limits;
mod paths;
#[rustfmt::skip]
pub(crate) mod keys;
mod read;
mod result;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::BTreeMap;

pub use draw::{Drawn, LossKind};
pub use limits::Limit;
pub use paths::{Changed, Changing, Forged, Injecting, Middlebox};
pub use result::{
    ArmResult, Distribution, OutlierRecord, POPULATION_SCHEMA, PopulationCost, PopulationDocument,
    Row, Verdict,
};
pub use variants::{Cell, Effect, VARIANTS_SCHEMA, VariantsDocument};

use crate::dist::Dist;
use crate::experiment::ParseError;
use crate::point::{Host, Ip, SocketOptions};

/// What is drawn, the arms and how they are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    /// The experiment's name.
    pub name: String,
    /// The question it answers.
    pub title: Option<String>,
    /// The variant of its file that it is; none: the file as it is written.
    pub variant: Option<String>,
    /// Connections of each arm.
    pub connections: u64,
    /// Seed of all draws.
    pub seed: u64,
    /// Ticks a second of every host.
    pub hz: u32,
    /// The internet protocol of all packets.
    pub ip: Ip,
    /// Round-trip time without queues.
    pub rtt: Dist,
    /// Rate of the bottleneck.
    pub rate: Dist,
    /// Bytes of its queue.
    pub buffer: Dist,
    /// Mean of the exponential jitter.
    pub jitter: Dist,
    /// Requests of a connection.
    pub requests: Dist,
    /// Time from a response to the next request.
    pub think: Dist,
    /// Bytes of a request.
    pub request: Dist,
    /// Bytes of a response.
    pub response: Dist,
    /// How long the client waits for its socket.
    pub client_timeout: Dist,
    /// How long the server waits for its socket.
    pub server_timeout: Dist,
    /// Kinds of paths that lose packets.
    pub losses: Vec<Loss>,
    /// Part of a path's loss that hits the ACKs, in billionths (10^-9).
    pub ack_loss_ppb: u32,
    /// Delay spikes.
    pub spikes: SpikeRule,
    /// Reordering.
    pub reordering: Option<Reordering>,
    /// Outages.
    pub outage: Option<OutageRule>,
    /// Kinds of middle boxes.
    pub middleboxes: Vec<Middlebox>,
    /// Kinds of paths that change.
    pub changes: Vec<Changing>,
    /// Kinds of paths on which segments are forged.
    pub injects: Vec<Injecting>,
    /// Kinds of clients.
    pub clients: Vec<Client>,
    /// What the server is in each arm; the first is the baseline.
    pub arms: Vec<Host>,
    /// How arms are compared.
    pub compare: Compare,
}

/// A kind of lossy path.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Share of the paths, in parts per billion.
    pub share_ppb: u32,
    /// Mean loss.
    pub rate: Dist,
    /// Mean number of packets that meet the bad state of Gilbert-Elliott, times a million; none: no bursts.
    pub burst_ppm: Option<u64>,
    /// Chance of loss in the bad state.
    pub bad_ppb: u32,
}

/// When the link stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpikeRule {
    /// Chance of each packet on the way of the data.
    pub data_ppb: u32,
    /// Chance of each packet on the way of the ACKs.
    pub ack_ppb: u32,
    /// Median of the length.
    pub median_ns: i64,
    /// Sigma of its logarithm, in parts of a million.
    pub sigma_ppm: u32,
}

/// Data packets that are overtaken.
#[derive(Clone, Debug, PartialEq)]
pub struct Reordering {
    /// Chance of each.
    pub data_ppb: u32,
    /// It is late by this at least.
    pub least: Dist,
    /// And by this at most.
    pub most: Dist,
}

/// Times in which every packet is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct OutageRule {
    /// Part of the connections, in billionths (10^-9).
    pub share_ppb: u32,
    /// When it begins.
    pub start: Dist,
    /// How long it lasts.
    pub length: Dist,
    /// Part of them that never end.
    pub final_ppb: u32,
}

/// A kind of client.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// Part of the clients, in billionths (10^-9).
    pub share_ppb: u32,
    /// Its profile; none: the stack's.
    pub profile: Option<String>,
    /// Behaviours that differ from the profile's.
    pub behaviour: BTreeMap<String, String>,
    /// Its sysctls.
    pub sysctl: BTreeMap<String, String>,
    /// Options of its sockets.
    pub socket: SocketOptions,
}

/// How arms are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compare {
    /// Share of false discoveries, in billionths (10^-9).
    pub level_ppb: u32,
    /// Band in which a latency is the same, in billionths (10^-9).
    pub band_ppb: u32,
    /// The run ends when every row is decided.
    pub stops: bool,
}

impl Default for Compare {
    fn default() -> Self {
        Self {
            level_ppb: keys::LEVEL.number() as u32,
            band_ppb: keys::BAND.number() as u32,
            stops: false,
        }
    }
}

impl Client {
    /// Whether it is the stack as it is.
    pub fn is_plain(&self) -> bool {
        self.profile.is_none()
            && self.behaviour.is_empty()
            && self.sysctl.is_empty()
            && self.socket == SocketOptions::default()
    }

    /// What it is, in words.
    pub fn words(&self) -> String {
        let values = self.behaviour.iter().chain(&self.sysctl);
        let mut words: Vec<String> = values
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        words.extend(self.profile.clone());
        let options = self.socket.keys_set();
        words.extend(options.iter().map(|name| format!("socket {name}")));
        match words.is_empty() {
            true => "the stack as it is".to_owned(),
            false => words.join(", "),
        }
    }
}

impl Population {
    /// Connections at most: their numbers stay exact in every reader of JSON.
    pub const MAX_CONNECTIONS: u64 = 1_000_000_000_000;

    /// The keys that are one distribution, with their texts.
    pub fn texts(&self) -> Vec<(String, String)> {
        let keys = [
            ("rtt", &self.rtt),
            ("rate", &self.rate),
            ("buffer", &self.buffer),
            ("jitter", &self.jitter),
            ("requests", &self.requests),
            ("request", &self.request),
            ("response", &self.response),
            ("think", &self.think),
            ("client_timeout", &self.client_timeout),
            ("server_timeout", &self.server_timeout),
        ];
        keys.map(|(key, dist)| (key.to_owned(), dist.to_string()))
            .to_vec()
    }

    /// Whether a file's text is a population: it has a table `[population]`.
    pub fn is_population(text: &str) -> bool {
        let begins = |line: &str| line.trim_start().starts_with("[population]");
        text.lines().any(begins)
    }

    /// Reads a file's text, without its variants. `file` is its name, for messages and for a missing `name`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, ParseError> {
        read::read(file, text).map_err(|fault| ParseError::new(file, text, fault))
    }

    /// Reads the variants of a file's text, in its order; there may be none. Each is a population of its own, whose
    /// connections have the draws of the same numbers in the others, but for the keys that differ.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn variants(file: &str, text: &str) -> Result<Vec<Self>, ParseError> {
        read::variants(file, text).map_err(|fault| ParseError::new(file, text, fault))
    }

    /// The JSON Schema (draft 2020-12) of a file.
    pub fn schema() -> serde_json::Value {
        let title = "A population of tcplab (TOML)";
        crate::experiment::schema::of(keys::POPULATION_FILE, title)
    }

    /// Every key as Markdown tables, for `docs/population.md`.
    pub fn reference() -> String {
        use crate::experiment::schema::part;
        use keys::{
            BOX, CHANGE, CLIENT, COMPARE, INJECT, LOSS, OUTAGE, POPULATION, POPULATION_FILE,
            REORDERING, SPIKES, VARIANT,
        };
        let parts = [
            ("The file", POPULATION_FILE),
            ("`[population]`", POPULATION),
            ("`loss`", LOSS),
            ("`spikes`", SPIKES),
            ("`reordering`", REORDERING),
            ("`outage`", OUTAGE),
            ("`middlebox`", BOX),
            ("`change`", CHANGE),
            ("`inject`", INJECT),
            ("`clients`", CLIENT),
            ("`[compare]`", COMPARE),
            ("`[[variant]]`", VARIANT),
        ];
        parts.map(|(title, keys)| part(title, keys)).concat()
    }
}
