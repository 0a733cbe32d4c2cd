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
        "`[[app]]` in the file. docs/experiment.md lists the kinds and their keys.";
    "arm" []
        "one side of a comparison: a stack, a variant, a kernel with or without a patch"
        "In a population: one TCP that every drawn connection goes through.";
    "axis" ["axes"]
        "a value that changes from point to point: `{ axis = [\"1mbit\", \"2mbit\"] }`"
        "Several axes multiply. `--set KEY=A,B` makes one without an editor.";
    "behaviour" ["behavior"]
        "one rule in which TCPs differ, such as `quickack_accounting`"
        "A profile is a list of behaviours. `tcplab stacks --profiles` lists all of them; `tcplab help NAME` \
         says what one does and which commit changed it.";
    "cure" ["remedy", "remedies"]
        "what a finding advises; `analyze --prove` tries it on the model"
        "The best one comes first.";
    "digest" []
        "a SHA-256 over a point's result and captures"
        "Equal digests mean equal runs.";
    "edit" []
        "a change of a kernel's source that `tcplab kernel build --edit` applies"
        "`uml:6.1+EDIT` names the kernel with it. docs/kernels.md lists the edits.";
    "exact" []
        "a value that is identical in every run of the same point, as in virtual time"
        "Exact values are equal or differ; they need no statistics.";
    "fidelity" []
        "how far the model sends what a real kernel sends, packet by packet"
        "docs/fidelity.md and docs/releases.md have the comparison.";
    "finding" []
        "what `tcplab analyze` says went wrong, with its cause, a way out and how sure it is"
        "docs/findings.md lists all of them.";
    "goodput" []
        "payload bytes that arrived, without retransmissions, per second"
        "The rate on the wire is higher: it includes headers and retransmissions.";
    "interval" ["confidence interval"]
        "the range that holds the true value with 95 % confidence"
        "More runs make it narrower. docs/statistics.md says how it is computed.";
    "live" []
        "with real sockets and in real time, unlike a run of an experiment"
        "`tcplab probe`, `tcplab link` and `tcplab analyze -i` work live.";
    "measure" ["metric"]
        "a value that an experiment asks for, by name: `down.goodput_bps`"
        "docs/experiment.md lists all of them.";
    "model" []
        "tcplab's own TCP in a simulator: `--on model:PROFILE`"
        "docs/model.md says what it does and what it leaves out.";
    "p50, p99" ["p50", "p99", "median", "percentile"]
        "the median; the value that 99 of 100 do not exceed"
        "p95 likewise: 95 of 100.";
    "point" []
        "one run of an experiment: one value of each axis, one variant, one repetition, one stack"
        "A result has a folder for each point. docs/results.md describes it.";
    "population" []
        "connections that are drawn from distributions: sizes, round trips, losses"
        "docs/population.md describes the file.";
    "profile" []
        "a list of behaviours that the model has at once, named after a release: `linux-6.1`"
        "`--on model:linux-6.1` uses it. `tcplab stacks --profiles` compares all of them.";
    "repetition" ["repeat"]
        "the same point again, with another seed"
        "`--repeat N`, or `repeat` in the file.";
    "seed" []
        "where random draws begin"
        "The same seed gives the same draws, so arms with the same seed are compared in pairs.";
    "shard" []
        "a part of a run that another process or machine computes"
        "`tcplab merge` joins the results. docs/cluster.md shows how.";
    "stack" []
        "what runs an experiment: `model:PROFILE`, `uml:NAME`, `qemu:NAME`, `host`, `ssh:A,B`"
        "`tcplab stacks` lists those of this machine.";
    "UML" ["User-Mode Linux"]
        "User-Mode Linux: a Linux kernel as an ordinary program, `uml:NAME`"
        "It needs no root, and runs in virtual time. `tcplab kernel build 6.1` builds one.";
    "unverified" []
        "a profile that was not compared with its kernel, packet by packet"
        "It is a list of behaviours from commits and documents. The model's profiles of Linux 5.10, 6.1, 6.12 and 7.2 are \
         verified; results mark the others.";
    "variant" []
        "a named set of changes of an experiment file: `[[variant]]`"
        "Each variant runs at every point, and a table compares it with the first.";
    "verdict" ["better", "worse", "same", "undecided"]
        "what a comparison says of a row: better, worse, same, undecided and others"
        "same: the whole interval lies within 1 %. undecided: the interval allows several verdicts; more runs help.";
    "virtual time" []
        "time that jumps from event to event instead of passing"
        "An hour takes a second, and runs repeat byte for byte.";
};
