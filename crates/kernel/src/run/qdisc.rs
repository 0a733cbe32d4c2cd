//! The kernel's qdisc at the root of an interface.
//!
//! From words of tc(8), which a guest has not got: `netem`, `fq`, `fq_codel`, `pfifo` and `bfifo`.

use netlink_packet_core::DefaultNla;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use tcplab_plan::point::Direction;

use super::error::{Context, RunError};
use super::netlink::{Netlink, index};

/// linux/rtnetlink.h and linux/pkt_sched.h.
const TCA_OPTIONS: u16 = 2;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;

/// Frames that netem holds when the link gives no limit; tc's own default.
const NETEM_LIMIT: u32 = 1000;

/// Sets the qdisc of an interface for what leaves through it.
pub(crate) fn set(netlink: &Netlink, interface: &str, way: &Direction) -> Result<(), RunError> {
    let Some(words) = &way.qdisc else {
        return Ok(());
    };
    put(netlink, interface, words)
}

/// Puts a qdisc at the root of an interface, by the words of tc(8).
pub(crate) fn put(netlink: &Netlink, interface: &str, words: &str) -> Result<(), RunError> {
    let (kind, options) = by_words(words)?;
    let index = index(interface).context(|| format!("no interface {interface}"))?;
    let mut message = TcMessage::with_index(i32::try_from(index).unwrap_or(i32::MAX));
    message.header.parent = TcHandle::ROOT;
    message.attributes = vec![TcAttribute::Kind(kind.into())];
    if let Some(bytes) = options {
        let options = DefaultNla::new(TCA_OPTIONS, bytes);
        message.attributes.push(TcAttribute::Other(options));
    }
    netlink
        .qdisc(message)
        .context(|| format!("this kernel does not take the qdisc {kind} on {interface}"))
}

fn by_words(words: &str) -> Result<(&'static str, Option<Vec<u8>>), RunError> {
    let split: Vec<&str> = words.split_whitespace().collect();
    let limit = |text: &str| text.parse::<u32>().ok().map(|n| n.to_ne_bytes().to_vec());
    let known = match split.as_slice() {
        ["netem", ..] => {
            let way = Direction::of_tc_words(words)
                .map_err(|why| RunError::Cannot(format!("the qdisc `{words}`: {why}")))?;
            Some(("netem", Some(netem(&way))))
        }
        ["fq"] => Some(("fq", None)),
        ["pfifo"] => Some(("pfifo", None)),
        ["fq_codel"] => Some(("fq_codel", None)),
        ["pfifo", "limit", n] => limit(n).map(|n| ("pfifo", Some(n))),
        ["bfifo", "limit", n] => limit(n).map(|n| ("bfifo", Some(n))),
        _ => None,
    };
    known.ok_or_else(|| {
        RunError::Cannot(format!(
            "the kernel's qdisc `{words}` is not known here; there are `netem` with limit, delay, loss \
             random and rate, `fq`, `fq_codel`, `pfifo [limit N]` and `bfifo limit N`"
        ))
    })
}

/// `struct tc_netem_qopt`, then attributes of 64 bits where the structure has 32.
fn netem(way: &Direction) -> Vec<u8> {
    let limit = match way.limit_pkts {
        0 => NETEM_LIMIT,
        n => n,
    };
    // The chance as a fraction of 2^32.
    let loss = (u64::from(way.loss_ppb) << 32) / 1_000_000_000;
    let loss = u32::try_from(loss).unwrap_or(u32::MAX);
    let mut bytes = Vec::new();
    for word in [0, limit, loss, 0, 0, 0] {
        bytes.extend_from_slice(&u32::to_ne_bytes(word));
    }
    attribute(&mut bytes, TCA_NETEM_LATENCY64, &way.delay_ns.to_ne_bytes());
    attribute(&mut bytes, TCA_NETEM_JITTER64, &way.jitter_ns.to_ne_bytes());
    if let Some(rate) = way.rate_bps {
        // struct tc_netem_rate: bytes a second, then overheads, all none.
        let bytes_a_second = rate / 8;
        let mut value = [0; 16];
        let low = u32::try_from(bytes_a_second).unwrap_or(u32::MAX);
        value[..4].copy_from_slice(&low.to_ne_bytes());
        attribute(&mut bytes, TCA_NETEM_RATE, &value);
        if low == u32::MAX {
            attribute(&mut bytes, TCA_NETEM_RATE64, &bytes_a_second.to_ne_bytes());
        }
    }
    bytes
}

fn attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = value.len() as u16 + 4;
    bytes.extend_from_slice(&length.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn netem_has_its_structure_and_attributes() {
        let way = Direction {
            delay_ns: 25_000_000,
            rate_bps: Some(10_000_000),
            loss_ppb: 500_000_000,
            limit_pkts: 100,
            ..Direction::default()
        };
        let bytes = netem(&way);
        assert_eq!(bytes[4..8], 100_u32.to_ne_bytes());
        assert_eq!(bytes[8..12], (1_u32 << 31).to_ne_bytes());
        assert_eq!(bytes[28..36], 25_000_000_i64.to_ne_bytes());
        assert_eq!(bytes[52..56], 1_250_000_u32.to_ne_bytes());
    }

    #[test]
    fn unknown_words_say_what_is_known() {
        assert!(by_words("pfifo limit 100").is_ok());
        assert_eq!(by_words("netem delay 25ms").unwrap().0, "netem");
        assert!(by_words("netem gap 3").is_err());
        let error = by_words("hfsc default 1").unwrap_err().to_string();
        assert!(error.contains("fq_codel"), "{error}");
    }
}
