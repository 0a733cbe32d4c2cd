//! `middlebox` and `inject` of a link and its ways.

use super::error::Fault;
use super::faults::{entries, time};
use super::fields::Fields;
use super::keys::{Key, links as keys};
use crate::point::{Inject, Injected, Rewrite, TcpOption};
use crate::rules::{INJECTED_DATA, MAX_INJECTS, MAX_REWRITES, MSS_OPTION};

/// Rules of a middle box, in their order; the key is `middlebox` of a link, or another one that takes the same.
pub(crate) fn rewrites(fields: &Fields<'_>, key: &Key) -> Result<Option<Vec<Rewrite>>, Fault> {
    entries(fields, key, (MAX_REWRITES, "rules"), rewrite)
}

/// Injected segments, in the order of their times.
pub(super) fn injects(fields: &Fields<'_>) -> Result<Option<Vec<Inject>>, Fault> {
    let injects = entries(fields, &keys::INJECT, (MAX_INJECTS, "segments"), inject)?;
    Ok(injects.map(|mut injects| {
        injects.sort_by_key(|inject: &Inject| inject.at_ns);
        injects
    }))
}

fn rewrite(text: &str) -> Result<Rewrite, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["strip-options", list] => options(list).map(Rewrite::StripOptions),
        ["drop-options", list] => options(list).map(Rewrite::DropOptions),
        ["set-mss", mss] => within(mss, MSS_OPTION).map(Rewrite::SetMss),
        ["ecn-tcp-remove"] => Ok(Rewrite::EcnTcpRemove),
        ["ecn-ip-ect", bits] => within(bits, (0, 3)).map(|bits| Rewrite::EcnIpEct(bits as u8)),
        ["drop-ecn-syn"] => Ok(Rewrite::DropEcnSyn),
        _ => Err(
            "write `strip-options LIST`, `drop-options LIST`, `set-mss N`, `ecn-tcp-remove`, `ecn-ip-ect N` or \
             `drop-ecn-syn`"
                .to_owned(),
        ),
    }
}

fn within(text: &str, (least, most): (u64, u64)) -> Result<u16, String> {
    let number = text.parse().ok();
    let number = number.filter(|n: &u64| (least..=most).contains(n));
    let number = number.and_then(|n| u16::try_from(n).ok());
    number.ok_or_else(|| format!("`{text}` is not a number from {least} to {most}"))
}

fn options(list: &str) -> Result<Vec<TcpOption>, String> {
    let mut out = Vec::new();
    for name in list.split(',') {
        let known = TcpOption::ALL.iter().find(|(known, _)| *known == name);
        let Some((_, option)) = known else {
            let names: Vec<&str> = TcpOption::ALL.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "`{name}` is not an option of TCP: write a list of {} with commas",
                names.join(", ")
            ));
        };
        if out.contains(option) {
            return Err(format!("`{name}` stands twice"));
        }
        out.push(*option);
    }
    Ok(out)
}

/// One injected segment whose time stands elsewhere: `KIND [seq N] [ack N]`.
pub(crate) fn segment(fields: &Fields<'_>, key: &Key) -> Result<Inject, Fault> {
    const FORM: &str = "write `rst`, `syn`, `ack`, `fin` or `data BYTES`, then `seq +N` or `ack +N` if wanted, such \
                        as \"rst seq +1000\"";
    let (Some(node), Some(text)) = (fields.node(key), fields.text(key)?) else {
        return Err(fields.missing(key));
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    kind(&words, FORM).map_err(|why| fields.fault(key, node, why))
}

/// `TIME KIND [seq N] [ack N]`.
fn inject(text: &str) -> Result<Inject, String> {
    const FORM: &str = "write TIME and `rst`, `syn`, `ack`, `fin` or `data BYTES`, then `seq +N` or `ack +N` if \
                        wanted, such as \"2s rst\" or \"2s rst seq +1000\"";
    let words: Vec<&str> = text.split_whitespace().collect();
    let (at, rest) = words.split_first().ok_or(FORM)?;
    let inject = kind(rest, FORM)?;
    Ok(Inject {
        at_ns: time(at)?,
        ..inject
    })
}

/// `KIND [seq N] [ack N]`; its time is 0.
fn kind(words: &[&str], form: &str) -> Result<Inject, String> {
    let (what, mut rest) = match words {
        ["rst", rest @ ..] => (Injected::Rst, rest),
        ["syn", rest @ ..] => (Injected::Syn, rest),
        ["ack", rest @ ..] => (Injected::Ack, rest),
        ["fin", rest @ ..] => (Injected::Fin, rest),
        ["data", bytes, rest @ ..] => (Injected::Data(within(bytes, INJECTED_DATA)?), rest),
        _ => return Err(form.to_owned()),
    };
    let (mut seq, mut ack) = (None, None);
    while let [name, number, others @ ..] = rest {
        let place = match *name {
            "seq" => &mut seq,
            "ack" => &mut ack,
            _ => return Err(form.to_owned()),
        };
        let wrong = || format!("`{number}` is not a number such as +1000 or -1");
        if place
            .replace(number.parse().map_err(|_| wrong())?)
            .is_some()
        {
            return Err(format!("`{name}` stands twice"));
        }
        rest = others;
    }
    if !rest.is_empty() {
        return Err(form.to_owned());
    }
    if ack.is_some() && matches!(what, Injected::Rst | Injected::Syn) {
        return Err("has no acknowledgment number: remove `ack`".to_owned());
    }
    Ok(Inject {
        at_ns: 0,
        what,
        seq: seq.unwrap_or(0),
        ack: ack.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_written_as_it_is_read() {
        for words in [
            "strip-options timestamp,sack-permitted",
            "drop-options sack,mss,wscale,fastopen",
            "set-mss 1200",
            "ecn-tcp-remove",
            "ecn-ip-ect 2",
            "drop-ecn-syn",
        ] {
            assert_eq!(rewrite(words).unwrap().to_string(), words);
        }
    }
}
