//! The claims' data, and what becomes of results.

use tcplab_plan::measure::{Measure, Unit};

use super::glob::fits;
use super::list::{Change, List};

#[test]
fn every_claim_can_be_measured() {
    let list = List::new().unwrap();
    assert!(list.claims.len() > 60, "{}", list.claims.len());
    for claim in &list.claims {
        let Some(experiment) = &claim.experiment else {
            continue;
        };
        let points = list.experiment(experiment).unwrap().points().unwrap();
        let own: Vec<_> = points.iter().filter(|p| claim.is_at(p)).collect();
        assert!(
            !own.is_empty(),
            "{}: no point has {:?}",
            claim.published.id,
            claim.at
        );
        let names = claim.value.names();
        assert!(
            !names.is_empty(),
            "{}: it measures nothing",
            claim.published.id
        );
        // Counts are told by what is counted, shares in per cent: only what has a dimension must agree.
        let unit = match claim.base.as_ref().map(|base| base.change) {
            Some(Change::Percent) => "%",
            _ => claim.value.unit().map_or("", Unit::name),
        };
        let counted = ["", "segments", "packets"].contains(&unit);
        assert!(
            counted || unit == claim.published.unit,
            "{}: {unit}",
            claim.published.id
        );
        for name in names
            .into_iter()
            .chain(claim.show.iter().map(String::as_str))
        {
            if let Err(e) = Measure::parse(name, own[0]) {
                panic!("{}: {e}", claim.published.id);
            }
        }
    }
}

#[test]
fn a_claim_that_names_one_figure_has_one_point() {
    use tcplab_plan::result::Rule;
    let list = List::new().unwrap();
    for claim in list
        .claims
        .iter()
        .filter(|c| c.published.rule == Rule::Within)
    {
        let Some(experiment) = &claim.experiment else {
            continue;
        };
        let points = list.experiment(experiment).unwrap().points().unwrap();
        let own = points.iter().filter(|p| claim.is_at(p)).count();
        assert_eq!(
            own, 1,
            "{}: {own} points have {:?}",
            claim.published.id, claim.at
        );
    }
}

#[test]
fn names_fit_as_in_a_shell() {
    for (pattern, name, is) in [
        ("quickack.*", "quickack.default", true),
        ("quickack.*", "lo.delayed", false),
        ("*delayed", "lo.delayed", true),
        ("*delayed", "lo.delayed-once", false),
        ("*.*", "lo.delayed", true),
        ("*a*b*c", "xxaxxbxxbxxc", true),
        ("*a*b*c", "xxaxxbxxbxx", false),
        ("lo.delaye?", "lo.delayed", true),
        ("lo.delayed?", "lo.delayed", false),
        ("", "", true),
        ("", "x", false),
        ("*", "", true),
    ] {
        assert_eq!(fits(pattern, name), is, "{pattern} {name}");
    }
}

/// The timeouts of two rules after each of some round trips, to the microsecond.
#[test]
fn timeouts_are_the_published_ones() {
    let mut list = List::new().unwrap();
    list.claims.retain(|claim| claim.estimator.is_some());
    assert!(list.claims.len() >= 24, "{}", list.claims.len());
    let lab = crate::Lab::new(tcplab_os::Stop::never());
    let options = super::Options {
        jobs: 1,
        out: None,
        packetdrill: None,
    };
    let document = super::run(&lab, &list, options, |_| {}).unwrap();
    assert_eq!(document.claims.len(), list.claims.len());
    for claim in &document.claims {
        let passed = claim.verdict == tcplab_plan::result::Verdict::Pass;
        assert!(passed, "{}: {:?} {}", claim.id, claim.measured, claim.why);
    }
    let spike = "model.rto.rfc6298.spike";
    let spike = document.claims.iter().find(|c| c.id == spike).unwrap();
    assert!(
        spike.why.contains("200, 200, 372.462, 332.472"),
        "{}",
        spike.why
    );
}

/// The table is of a kernel's figures and cannot be made here; that it has every claim can be seen.
#[test]
fn every_claim_is_in_the_document() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reproduce.md");
    let text = std::fs::read_to_string(path).unwrap();
    let list = List::new().unwrap();
    let (_, measured) = text.split_once("<!-- measured -->").unwrap();
    // A kernel's claim and the same one of the model may share a row.
    let mut named: Vec<String> = Vec::new();
    for line in measured.lines() {
        let row = line
            .strip_prefix("| `")
            .and_then(|row| row.split_once("` | "));
        let equal = line.strip_prefix("Equal: ").unwrap_or_default();
        let equal = equal.split('`').skip(1).step_by(2);
        for id in row.map(|(id, _)| id).into_iter().chain(equal) {
            match id.strip_prefix("[model.]") {
                Some(both) => named.extend([both.to_owned(), format!("model.{both}")]),
                None => named.push(id.to_owned()),
            }
        }
    }
    for claim in &list.claims {
        assert!(
            named.contains(&claim.published.id),
            "{} is not in docs/reproduce.md; put the output of `tcplab reproduce --markdown` there",
            claim.published.id
        );
    }
    let figures = named.len();
    assert_eq!(figures, list.claims.len(), "it has claims that are gone");
}

/// `/proc/net/tcp` at each read on Linux 6.1.192, with and without the rules of 6.1.56. The first ACK takes one of
/// sixteen credits before the first read.
#[test]
fn the_models_credits_are_the_kernels_read_by_read() {
    use tcplab_plan::Experiment;
    let text = "[run]\nlog = true\n[[app]]\nkind = \"stream\"\nchunk = \"1k\"\nevery = \"100ms\"\ncount = 40\n\
                server_socket = { nodelay = true }\n";
    let points = Experiment::parse("credits.toml", text)
        .unwrap()
        .points()
        .unwrap();
    let lab = crate::Lab::new(tcplab_os::Stop::never());
    for stack in ["model:linux-6.1.56", "model:linux-6.1"] {
        let document = crate::campaign::run(
            &lab,
            &crate::campaign::Campaign {
                experiment: "credits",
                points: &points,
                stacks: &[lab.stack(stack).unwrap()],
                measures: &[],
                jobs: 1,
                out: None,
                view: None,
                only: None,
            },
            |_| {},
        );
        let document = document.unwrap();
        let client = &document.points[0].flows[0].client;
        let log = client.log.iter();
        let credits: Vec<u32> = log
            .filter(|line| line.what == "read")
            .filter_map(|line| line.quick)
            .collect();
        let right: Vec<u32> = (0..16).rev().chain(std::iter::repeat_n(0, 24)).collect();
        assert_eq!(credits.get(..40), Some(&right[..]), "{stack}");
    }
}

#[test]
fn every_claims_stack_honours_its_experiment() {
    use crate::check::{kind_of, points};
    let list = List::new().unwrap();
    for batch in super::engine::batches(&list).unwrap() {
        let kind = kind_of(&batch.stack).unwrap();
        let checked = points(&batch.points, &[(&batch.stack, kind)]);
        assert!(checked.is_ok(), "{checked:?}");
    }
}
