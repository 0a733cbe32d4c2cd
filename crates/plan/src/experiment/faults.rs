//! Random faults and other disturbances of a link, except independent loss: `burst_loss`,
//! `reordering`, `duplication`, `corruption`, `exponential_jitter`, `spikes`, `limit_bytes`,
//! `overhead`, `queue_from`, `outage`, `change`, `middlebox`, `inject`, `rate_trace`.

use super::error::Fault;
use super::fields::Fields;
use super::keys::{Key, links as keys};
use super::middlebox;
use super::tc::Shape;
use crate::point::{BurstLoss, By, Change, Direction, Faults, Outage, RateTrace, Spikes};
use crate::rules::{ALL_PPB, MAX_OUTAGES, MAX_SIGMA};
use tcplab_base::quantity::{PERCENT, TIME};
use tcplab_qdisc::Settings;

/// What the keys of a link or of one of its ways say; where they say nothing, `around` decides.
pub(crate) fn read(fields: &Fields<'_>, by: By, around: Direction) -> Result<Direction, Fault> {
    for key in keys::FAULTS {
        if let (Some(node), By::Kernel) = (fields.node(key), by) {
            let message =
                "works on tcplab's own links only; write the kernel's qdisc in tc's words";
            return Err(fields.fault(key, node, message));
        }
    }
    let trace = |file| RateTrace {
        file,
        at_ms: Vec::new(),
    };
    Ok(Direction {
        faults: faults(fields, around.faults)?,
        limit_bytes: fields.find(&keys::LIMIT_BYTES)?.or(around.limit_bytes),
        overhead: fields.find(&keys::OVERHEAD)?.unwrap_or(around.overhead),
        queue_from_ns: fields.find(&keys::QUEUE_FROM)?.or(around.queue_from_ns),
        outages: outages(fields)?.unwrap_or(around.outages),
        changes: changes(fields)?.unwrap_or(around.changes),
        rate_trace: (fields.find(&keys::RATE_TRACE)?.map(trace)).or(around.rate_trace),
        middlebox: middlebox::rewrites(fields, &keys::MIDDLEBOX)?.unwrap_or(around.middlebox),
        injects: middlebox::injects(fields)?.unwrap_or(around.injects),
        ..around
    })
}

fn faults(fields: &Fields<'_>, around: Faults) -> Result<Faults, Fault> {
    let burst_loss = words(fields, &keys::BURST_LOSS, burst_loss)?;
    let reordered = words(fields, &keys::REORDERING, reordering)?.unwrap_or(around);
    Ok(Faults {
        burst_loss: burst_loss.or(around.burst_loss),
        duplicate_ppb: (fields.find(&keys::DUPLICATION)?).unwrap_or(around.duplicate_ppb),
        corrupt_ppb: (fields.find(&keys::CORRUPTION)?).unwrap_or(around.corrupt_ppb),
        exponential_jitter_ns: (fields.find(&keys::EXPONENTIAL_JITTER)?)
            .unwrap_or(around.exponential_jitter_ns),
        spikes: words(fields, &keys::SPIKES, spikes)?.or(around.spikes),
        ..reordered
    })
}

fn words<T>(
    fields: &Fields<'_>,
    key: &Key,
    read: impl Fn(&[&str]) -> Result<T, String>,
) -> Result<Option<T>, Fault> {
    let (Some(node), Some(text)) = (fields.node(key), fields.text(key)?) else {
        return Ok(None);
    };
    let split: Vec<&str> = text.split_whitespace().collect();
    match read(&split) {
        Ok(value) => Ok(Some(value)),
        Err(why) => Err(fields.fault(key, node, why)),
    }
}

fn percent(text: &str) -> Result<u32, String> {
    let ppb = PERCENT.parse(text)?;
    Ok(u32::try_from(ppb).unwrap_or(ALL_PPB))
}

/// `p [r [1-h [1-k]]]`, as tc-netem(8) has them, with its defaults.
fn burst_loss(words: &[&str]) -> Result<BurstLoss, String> {
    if words.is_empty() || words.len() > 4 {
        return Err("write P [R [1-H [1-K]]] in percent, such as \"1% 10%\"".to_owned());
    }
    let given: Result<Vec<u32>, String> = words.iter().map(|word| percent(word)).collect();
    let given = given?;
    let nth = |n: usize| given.get(n).copied();
    let good_to_bad_ppb = nth(0).unwrap_or(0);
    Ok(BurstLoss {
        good_to_bad_ppb,
        bad_to_good_ppb: nth(1).unwrap_or(ALL_PPB - good_to_bad_ppb.min(ALL_PPB)),
        loss_bad_ppb: nth(2).unwrap_or(ALL_PPB),
        loss_good_ppb: nth(3).unwrap_or(0),
    })
}

/// `PERCENT by TIME`, `PERCENT by TIME..TIME`.
fn reordering(words: &[&str]) -> Result<Faults, String> {
    let [chance, "by", times] = words else {
        return Err(
            "write PERCENT by TIME or PERCENT by TIME..TIME, such as \"1% by 5ms\"".to_owned(),
        );
    };
    let (least_ns, most_ns) = match times.split_once("..") {
        Some((least, most)) => (time(least)?, time(most)?),
        None => (0, time(times)?),
    };
    if least_ns > most_ns {
        return Err(format!("`{times}` ends before it begins"));
    }
    Ok(Faults {
        reorder_ppb: percent(chance)?,
        reorder_ns: most_ns,
        reorder_least_ns: least_ns,
        ..Faults::default()
    })
}

/// `PERCENT median TIME sigma NUMBER`.
fn spikes(words: &[&str]) -> Result<Spikes, String> {
    let form = || {
        "write PERCENT median TIME sigma NUMBER, such as \"0.2% median 250ms sigma 0.8\"".to_owned()
    };
    let [chance, "median", median, "sigma", sigma] = words else {
        return Err(form());
    };
    let sigma: f64 = sigma.parse().map_err(|_| form())?;
    if !(0.0..=MAX_SIGMA).contains(&sigma) {
        return Err(format!("sigma is from 0 to {MAX_SIGMA}, not {sigma}"));
    }
    Ok(Spikes {
        chance_ppb: percent(chance)?,
        median_ns: time(median)?,
        sigma_ppm: (sigma * 1e6).round() as u32,
    })
}

/// The entries of a list of texts, at most so many `of` them; none: the key is not there.
pub(super) fn entries<T>(
    fields: &Fields<'_>,
    key: &Key,
    (most, of): (usize, &str),
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<Option<Vec<T>>, Fault> {
    let Some(texts) = fields.texts(key)? else {
        return Ok(None);
    };
    let mut out = Vec::new();
    for (node, text) in texts {
        if out.len() == most {
            let message = format!("more than {most} {of}");
            return Err(fields.fault(key, node, message));
        }
        out.push(read(text).map_err(|why| fields.fault(key, node, why))?);
    }
    Ok(Some(out))
}

/// `FROM..UNTIL` and `FROM..`, times after the run's start.
fn outages(fields: &Fields<'_>) -> Result<Option<Vec<Outage>>, Fault> {
    entries(fields, &keys::OUTAGE, (MAX_OUTAGES, "outages"), outage)
}

/// `TIME WORDS`, in the order of their times.
fn changes(fields: &Fields<'_>) -> Result<Option<Vec<Change>>, Fault> {
    let mut last = None;
    entries(fields, &keys::CHANGE, (MAX_OUTAGES, "changes"), |text| {
        let one = change(text)?;
        let before = last.replace(one.at_ns);
        match before.is_some_and(|before| before >= one.at_ns) {
            true => Err(
                "is not later than the change before it: write them in the order of their times"
                    .to_owned(),
            ),
            false => Ok(one),
        }
    })
}

fn change(text: &str) -> Result<Change, String> {
    let form = || "write TIME WORDS, such as \"5s rate 5mbit delay 80ms\"".to_owned();
    let (at, words) = text
        .trim()
        .split_once(char::is_whitespace)
        .ok_or_else(form)?;
    let (netem, queue) = match words.trim().strip_prefix("qdisc ") {
        Some(qdisc) => ("", Some(qdisc)),
        None => match words.split_once(" qdisc ") {
            Some((netem, qdisc)) => (netem, Some(qdisc)),
            None => (words, None),
        },
    };
    let queue = queue.map(|words| Settings::parse(words.trim()).map_err(|wrong| wrong.why));
    let queue = queue.transpose()?;
    let shape = Shape::parse(&format!("netem {}", netem.trim())).map_err(|wrong| wrong.why)?;
    if shape == Shape::default() && queue.is_none() {
        return Err(form());
    }
    if shape.rate_bps == Some(0) {
        return Err("a rate of 0 passes no frames: use `outage`".to_owned());
    }
    Ok(Change {
        at_ns: time(at)?,
        rate_bps: shape.rate_bps,
        delay_ns: shape.delay_ns,
        jitter_ns: shape.jitter_ns,
        limit_pkts: shape.limit_pkts,
        loss_ppb: shape.loss_ppb,
        queue,
    })
}

fn outage(text: &str) -> Result<Outage, String> {
    let Some((from, until)) = text.split_once("..") else {
        return Err("write FROM..UNTIL or FROM.., such as \"2s..5s\"".to_owned());
    };
    let from_ns = time(from.trim())?;
    let until_ns = match until.trim() {
        "" => None,
        until => Some(time(until)?),
    };
    match until_ns.is_some_and(|until| until <= from_ns) {
        true => Err(format!("`{text}` ends before it begins")),
        false => Ok(Outage { from_ns, until_ns }),
    }
}

pub(super) fn time(text: &str) -> Result<i64, String> {
    Ok(i64::try_from(TIME.parse(text)?).unwrap_or(i64::MAX))
}
