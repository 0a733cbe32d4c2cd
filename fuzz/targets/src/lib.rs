//! What the fuzz targets run, one function for each target. A function panics when the code under
//! test panics or when it breaks a promise that is checked here; it never panics on its own.
//!
//! Two things run them: cargo-fuzz (`fuzz/fuzz_targets`, nightly) and the stable tests of this
//! package, over the corpus of [`corpus`] and the seeded mutator of [`mutate`].

mod analyser;
mod compare;
pub mod corpus;
mod drill;
mod endpoint;
mod experiment;
mod frames;
pub mod manifest;
pub mod mutate;
mod qdisc;
mod readers;
pub mod tree;

pub use analyser::{analyser, whole};
pub use compare::metrics;
pub use drill::drill_parser;
pub use endpoint::endpoint;
pub use experiment::{distribution, experiment, expression};
pub use frames::frame;
pub use qdisc::qdisc;
pub use readers::{Outcome, packed, pcap, pcapng, read, text};

/// Name, function and seeds of a target.
#[derive(Clone, Copy)]
pub struct Target {
    /// As cargo-fuzz calls it.
    pub name: &'static str,
    /// Takes one input.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 15] = [
    Target {
        name: "pcap",
        run: pcap,
        seeds: corpus::pcap,
    },
    Target {
        name: "pcapng",
        run: pcapng,
        seeds: corpus::pcapng,
    },
    Target {
        name: "text",
        run: text,
        seeds: corpus::text,
    },
    Target {
        name: "packed",
        run: packed,
        seeds: corpus::packed,
    },
    Target {
        name: "frame",
        run: frame,
        seeds: corpus::frames,
    },
    Target {
        name: "analyser",
        run: analyser,
        seeds: corpus::analyser,
    },
    Target {
        name: "whole",
        run: whole,
        seeds: corpus::whole,
    },
    Target {
        name: "experiment",
        run: experiment,
        seeds: corpus::experiments,
    },
    Target {
        name: "expression",
        run: expression,
        seeds: corpus::expressions,
    },
    Target {
        name: "distribution",
        run: distribution,
        seeds: corpus::distributions,
    },
    Target {
        name: "endpoint",
        run: endpoint,
        seeds: corpus::endpoint,
    },
    Target {
        name: "drill_parser",
        run: drill_parser,
        seeds: corpus::drill,
    },
    Target {
        name: "qdisc",
        run: qdisc,
        seeds: corpus::qdisc,
    },
    Target {
        name: "manifest",
        run: manifest::manifest,
        seeds: corpus::manifests,
    },
    Target {
        name: "metrics",
        run: metrics,
        seeds: corpus::metrics,
    },
];
