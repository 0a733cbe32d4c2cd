//! Words of experiments, comparisons and results.

use super::Entry;

macro_rules! entries {
    ($($word:literal $also:tt $short:literal $more:literal;)*) => {
        &[$(Entry { word: $word, also: &$also, short: $short, more: $more }),*]
    };
}

/// In the order of the alphabet.
pub(super) const LAB: &[Entry] = entries! {
    "application" ["app"]
        "what connections do in an experiment: bulk, request-response, web and others"
        "`[[app]]` in the file. Kinds and keys: docs/experiment.md.";
    "arm" []
        "one side of a comparison: a stack, a variant, a kernel with or without a patch"
        "In a population: one TCP configuration that runs every drawn connection.";
    "axis" ["axes"]
        "a value that changes from point to point: `{ axis = [\"1mbit\", \"2mbit\"] }`"
        "Several axes multiply. `--set KEY=A,B` makes one.";
    "behaviour" ["behavior"]
        "one rule in which TCPs differ, such as `quickack_accounting`"
        "A profile is a list of them. `tcplab stacks --profiles` lists all; `tcplab help NAME` says what one does and \
         which commit changed it.";
    "cure" ["remedy", "remedies"]
        "what a finding advises; `analyze --prove` tries it on the model"
        "The best comes first.";
    "digest" []
        "a SHA-256 over a point's result and captures"
        "Equal digests mean equal runs.";
    "edit" []
        "a change of a kernel's source that `tcplab kernel build --edit` applies"
        "`uml:6.1+EDIT` is the kernel with it. All: docs/kernels.md.";
    "exact" []
        "a value that is equal in every run of a point, as in virtual time"
        "Exact values are compared without statistics.";
    "fidelity" []
        "how exactly the model sends what a real kernel sends, packet by packet"
        "Measured: docs/fidelity.md, docs/releases.md.";
    "false discovery rate" ["FDR", "Benjamini-Hochberg"]
        "the expected share of decided rows in which nothing changed; at most 5 %"
        "Many rows would decide some by chance, so their p-values are adjusted for the number of rows; intervals are not.";
    "finding" []
        "what `tcplab analyze` says went wrong, with its cause, a cure and how sure it is"
        "All: docs/findings.md.";
    "goodput" []
        "payload bytes that arrived, without retransmissions, per second"
        "The rate on the wire is higher, by headers and retransmissions.";
    "interval" ["confidence interval", "95 % interval", "how sure"]
        "the range that holds the true mean or change with 95 % confidence"
        "It holds for this file on this stack. It is no range of single runs: `--all` lists these. More runs make it \
         narrower. Formulas: docs/compare.md for runs, docs/statistics.md for populations.";
    "latency" ["latency_us", "transaction"]
        "the time of a transaction: from a request or ping until its whole answer has arrived"
        "`APP.latency_us.p50`, `.p99`, `.max` and `.min`, in microseconds. A transaction without an answer in time (`lost`) \
         counts as slower than all others. `tcplab help APP.latency_us.p99` and docs/experiment.md say more.";
    "live" []
        "with real sockets and in real time, unlike a run of an experiment"
        "`tcplab probe`, `tcplab link`, `tcplab analyze -i`.";
    "measure" ["metric"]
        "a value that an experiment asks for, by name: `down.goodput_bps`"
        "All: docs/experiment.md.";
    "model" []
        "tcplab's own TCP in a simulator: `--on model:PROFILE`"
        "What it does and leaves out: docs/model.md.";
    "p50, p99" ["p50", "p99", "median", "percentile"]
        "the median; the value that 99 of 100 do not exceed"
        "p95 likewise: 95 of 100.";
    "pair" ["pairs", "paired", "in pairs"]
        "two runs with the same seed, one of each arm"
        "Both have the same random draws, so their difference varies less than single runs.";
    "point" []
        "one run: one value of each axis, one variant, one repetition, one stack"
        "A result has a folder for each: docs/results.md.";
    "population" []
        "connections that are drawn from distributions: sizes, round trips, losses"
        "The file: docs/population.md.";
    "profile" []
        "a set of behaviours of the model, named after a release: `linux-6.1`"
        "`--on model:linux-6.1` uses it, `tcplab stacks --profiles` compares all.";
    "repetition" ["repeat"]
        "the same point again, with another seed"
        "`--repeat N`, or `repeat` in the file.";
    "seed" []
        "where random draws begin"
        "Equal seeds give equal draws, so arms with the same seed are compared in pairs.";
    "shard" []
        "a part of a run that another process or machine computes"
        "`tcplab merge` joins the results: docs/cluster.md.";
    "stack" []
        "what runs an experiment: `model:PROFILE`, `uml:NAME`, `qemu:NAME`, `host`, `ssh:A,B`"
        "`tcplab stacks` lists those of this machine.";
    "UML" ["User-Mode Linux"]
        "a Linux kernel as an ordinary program, `uml:NAME`"
        "It needs no root and runs in virtual time. `tcplab kernel build 6.1` builds one.";
    "unverified" []
        "a profile that was not compared with its kernel, packet by packet"
        "It lists behaviours from commits and documents; results mark it. Which: docs/limits.md.";
    "variant" []
        "a named set of changes of an experiment file: `[[variant]]`"
        "Each variant runs with all axis values, and a table compares it with the first.";
    "verdict" ["better", "worse", "higher", "lower", "same", "undecided", "few runs", "too noisy", "noisy"]
        "what a comparison says of a row: better, worse, same, undecided and others"
        "better, worse: a change of more than 1 %, beyond chance. higher, lower: such a change of a measure without a better \
         direction. same: the whole interval lies between -1 % and +1 %. undecided: the interval allows several verdicts; \
         more runs help. few runs: too few runs to say how many would decide. \
         too noisy: even `--most-runs` runs a side would show no change below the percentage given.";
    "virtual time" []
        "time that jumps from event to event instead of passing"
        "An hour takes a second; runs repeat byte for byte.";
};
