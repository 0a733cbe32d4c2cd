//! Words of qdiscs: `tests/contract/qdiscs.txt`, or the examples of a kind, have a pair for every word that a qdisc takes;
//! the second must differ from the first in an output.

use std::collections::BTreeSet;
use std::fmt::Write;

use tcplab_qdisc::{KINDS, Settings, examples, words_of};

use super::outputs::{Outputs, run};
use super::rows::folder;

/// What a kernel is asked: only whether it takes the words.
const ONE_PING: &str = r#"[[app]]
kind = "ping"
client = "two"
server = "server"
count = 1
"#;

/// Two hosts with uploads, a download whose ACKs pass the qdisc, marked datagrams and a ping, behind a router.
const TEMPLATE: &str = r#"
schema = "tcplab.experiment/1"
name = "qdiscs"
[run]
linger = "1ms"
max = "2s"
[[host]]
name = "one"
socket = { congestion = "CC" }
sysctl = { "net.ipv4.tcp_ecn" = 1 SYSCTLS }
[[host]]
name = "two"
[[host]]
name = "router"
forward = true
[[host]]
name = "server"
socket = { congestion = "CC" }
sysctl = { "net.ipv4.tcp_ecn" = 1 SYSCTLS }
[[link]]
between = ["one", "router"]
rate = "100mbit"
[[link]]
between = ["two", "router"]
rate = "100mbit"
[[link]]
between = ["router", "server"]
LINK
[[app]]
kind = "bulk"
client = "one"
server = "server"
duration = "700ms"
[[app]]
name = "second"
kind = "bulk"
client = "one"
server = "server"
duration = "700ms"
client_socket = { tos = "CS1" }
[[app]]
name = "download"
kind = "bulk"
client = "one"
server = "server"
reverse = true
duration = "700ms"
[[app]]
name = "other"
kind = "bulk"
client = "two"
server = "server"
duration = "700ms"
client_socket = { tos = "0x10" }
[[app]]
kind = "udp-stream"
client = "two"
server = "server"
size = 1400
every = "4ms"
count = 170
client_socket = { tos = "EF" }
[[app]]
kind = "ping"
client = "two"
server = "server"
every = "20ms"
count = 30
"#;

/// What CAQM's own queue needs of the hosts.
const CAQM: &str =
    r#", "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff""#;

struct Rows {
    pairs: Vec<[String; 2]>,
    /// `KIND WORD`.
    not_shown: BTreeSet<String>,
}

fn rows() -> Rows {
    let text = std::fs::read_to_string(folder().join("qdiscs.txt")).unwrap();
    let (pairs, rest) = text.split_once("\nnot shown\n").expect("`not shown`");
    let pairs = pairs.lines().filter(|line| !line.starts_with('#'));
    let pairs = pairs.filter_map(|line| line.split_once(" -> "));
    let mut pairs: Vec<[String; 2]> = pairs.map(|(a, b)| [a, b].map(str::to_owned)).collect();
    let kind = |words: &str| words.split(' ').next().map(str::to_owned);
    let listed: BTreeSet<_> = pairs.iter().map(|[words, _]| kind(words)).collect();
    let others = examples().filter(|[words, _]| !listed.contains(&kind(words)));
    pairs.extend(others.map(|pair| pair.map(str::to_owned)));
    let not_shown = rest.lines().filter_map(|line| line.split_once(": "));
    Rows {
        pairs,
        not_shown: not_shown.map(|(words, _)| words.to_owned()).collect(),
    }
}

/// `KIND WORD` of every word of a qdisc and of its child, each with its values.
fn options(words: &str) -> BTreeSet<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut kind = "";
    let mut is_kind = true;
    for word in words.split_whitespace() {
        if is_kind {
            kind = word;
            is_kind = false;
            continue;
        }
        match words_of(kind).is_some_and(|known| known.contains(&word)) {
            true => found.push((format!("{kind} {word}"), String::new())),
            false => {
                let last = found.last_mut().expect("a word before its value");
                let _ = write!(last.1, " {word}");
            }
        }
        is_kind = word == "child";
    }
    found.into_iter().collect()
}

/// What a pair shows.
fn shown([before, after]: &[String; 2]) -> Vec<String> {
    let old = options(before);
    let new = options(after).into_iter().filter(|one| !old.contains(one));
    new.map(|(name, _)| name).collect()
}

/// An experiment whose variants put these words on the link.
fn experiment(words: &[&str], by_kernel: bool) -> String {
    let is_caqm = words.iter().all(|words| words.starts_with("caqm"));
    let (cc, sysctls) = if is_caqm {
        ("caqm", CAQM)
    } else {
        ("cubic", "")
    };
    let link = match by_kernel {
        true => "by = \"kernel\"\n".to_owned(),
        false => "rate = \"5mbit\"\ndelay = \"2ms\"\n".to_owned(),
    };
    let template = match (TEMPLATE.split_once("[[app]]"), by_kernel) {
        (Some((hosts, _)), true) => format!("{hosts}{ONE_PING}"),
        _ => TEMPLATE.to_owned(),
    };
    let template = template.replace("CC", cc).replace(" SYSCTLS", sysctls);
    let mut text = template.replace("LINK", &link);
    for (n, words) in words.iter().enumerate() {
        let _ = write!(
            text,
            "[[variant]]\nname = \"w{n}\"\nset = {{ \"link.router-server.a_to_b.qdisc\" = \"{words}\" }}\n"
        );
    }
    text
}

/// The outputs of each words, in their order.
fn outputs(words: &[&str], by_kernel: bool, stack: &str) -> Vec<Outputs> {
    run(&experiment(words, by_kernel), stack)
}

fn are_of_kernels(words: &str) -> bool {
    let qdisc = Settings::parse(words).unwrap_or_else(|e| panic!("{words}: {}", e.why));
    qdisc.kind().not_in_kernels().is_none()
}

#[test]
fn every_word_of_a_qdisc_stands_in_a_pair_or_on_the_list() {
    let rows = rows();
    let shown: BTreeSet<String> = rows.pairs.iter().flat_map(shown).collect();
    let kinds = KINDS.into_iter();
    let all = kinds.flat_map(|kind| {
        words_of(kind)
            .unwrap()
            .iter()
            .map(move |w| format!("{kind} {w}"))
    });
    // Values of a word before them.
    let all = all.filter(|name| !["caqm enqueue", "caqm dequeue"].contains(&name.as_str()));
    let wrong: Vec<String> = all
        .filter(|name| shown.contains(name) == rows.not_shown.contains(name))
        .collect();
    assert!(
        wrong.is_empty(),
        "neither shown nor listed, or both: {wrong:?}"
    );
}

#[test]
fn every_word_of_a_qdisc_changes_an_output_on_the_model() {
    let rows = rows();
    let (caqm, others): (Vec<_>, Vec<_>) =
        rows.pairs.iter().partition(|[a, _]| a.starts_with("caqm"));
    let mut silent = Vec::new();
    for pairs in [caqm, others] {
        let words: BTreeSet<&str> = pairs
            .iter()
            .flat_map(|pair| pair.each_ref())
            .map(String::as_str)
            .collect();
        let words: Vec<&str> = words.into_iter().collect();
        let outputs = outputs(&words, false, "model");
        let of = |own: &str| &outputs[words.binary_search(&own).unwrap()];
        for [before, after] in pairs {
            if of(before).change(of(after)).is_none() {
                silent.push(format!("{before} -> {after}"));
            }
        }
    }
    println!(
        "{} pairs of words, {} of them change nothing",
        rows.pairs.len(),
        silent.len()
    );
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn kernel_takes_every_qdisc_word_that_is_not_refused_before_the_run() {
    let rows = rows();
    let words: BTreeSet<&str> = rows.pairs.iter().flatten().map(String::as_str).collect();
    let (own, foreign): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|words| are_of_kernels(words));
    let outputs = outputs(&own, true, "uml:6.1");
    let failed: Vec<(&str, &str)> = own
        .iter()
        .zip(&outputs)
        .filter_map(|(words, out)| Some((*words, out.error()?)))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for words in &foreign {
        let text = experiment(&[words], true);
        let point = tcplab_plan::Experiment::parse("qdiscs.toml", &text)
            .unwrap()
            .points()
            .unwrap()
            .remove(0);
        let refused = super::refusals("uml:6.1", tcplab_lab::check::Kind::Uml, &point);
        assert!(
            refused
                .iter()
                .any(|line| line.contains("kernels do not support it")),
            "{words}: {refused:?}"
        );
    }
    println!(
        "uml:6.1 takes {} words of qdiscs; {} are refused before the run",
        own.len(),
        foreign.len()
    );
}
