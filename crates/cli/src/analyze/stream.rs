//! One stream as JSON, straight into a buffer: the bytes that `serde_json` writes, several times as fast.
//!
//! Own code because the streams are nearly the whole document: writing those of a capture with many connections by way
//! of serde took longer than to find out what is in them. Each struct is taken apart by name, so that a field that the
//! report gains does not compile before it is written here, and a test compares with `serde_json`.

use tcplab_analyze::report::{
    AckMode, AcksSent, Artefact, CaqmOffer, CaqmTags, Direction, DirectionMore, Episode,
    EpisodeKind, Handshake, Mode, Retransmissions, Rtt, Spread, SpuriousEvidence, State, Stream,
    Vantage,
};

/// Appends constant text.
macro_rules! text {
    ($out:ident, $($text:expr),*) => {
        $out.extend_from_slice(concat!($($text),*).as_bytes())
    };
}

/// Appends `"name":number` for each name, after a comma.
macro_rules! numbers {
    ($out:ident, $($name:ident),*) => {
        $(text!($out, ",\"", stringify!($name), "\":");
        number($out, u64::from($name));)*
    };
}

/// The same for those that are not 0.
macro_rules! nonzero {
    ($out:ident, $($name:ident),*) => {
        $(if $name != 0 {
            numbers!($out, $name);
        })*
    };
}

/// Appends an object of numbers; at once when all are 0.
macro_rules! object {
    ($out:ident, $first:ident, $($name:ident),*) => {
        if u64::from($first) $(| u64::from($name))* == 0 {
            text!($out, "{\"", stringify!($first), "\":0" $(, ",\"", stringify!($name), "\":0")*, "}");
        } else {
            text!($out, "{\"", stringify!($first), "\":");
            number($out, u64::from($first));
            numbers!($out, $($name),*);
            $out.push(b'}');
        }
    };
}

/// Appends a list of what `each` writes.
macro_rules! list {
    ($out:ident, $items:expr, $each:expr) => {
        $out.push(b'[');
        for (i, item) in $items.iter().enumerate() {
            if i > 0 {
                $out.push(b',');
            }
            $each($out, item);
        }
        $out.push(b']');
    };
}

/// Appends a stream as an object.
pub fn write(out: &mut Vec<u8>, s: &Stream) {
    let Stream {
        stream,
        client,
        server,
        start_ns,
        duration_us,
        state,
        handshake,
        vantage,
        artefacts,
        client_to_server,
        server_to_client,
    } = s;
    text!(out, "{\"stream\":");
    number(out, u64::from(*stream));
    text!(out, ",\"client\":");
    string(out, client);
    text!(out, ",\"server\":");
    string(out, server);
    text!(out, ",\"start_ns\":");
    if *start_ns < 0 {
        out.push(b'-');
    }
    number(out, start_ns.unsigned_abs());
    text!(out, ",\"duration_us\":");
    number(out, *duration_us);
    text!(out, ",\"state\":");
    name(out, state_name(*state));
    if let Some(h) = handshake {
        text!(out, ",\"handshake\":");
        write_handshake(out, h);
    }
    text!(out, ",\"vantage\":");
    name(out, vantage_name(*vantage));
    if !artefacts.is_empty() {
        text!(out, ",\"artefacts\":");
        list!(out, artefacts, |out, a: &Artefact| name(
            out,
            artefact_name(*a)
        ));
    }
    text!(out, ",\"client_to_server\":");
    direction(out, client_to_server);
    text!(out, ",\"server_to_client\":");
    direction(out, server_to_client);
    out.push(b'}');
}

fn write_handshake(out: &mut Vec<u8>, h: &Handshake) {
    let Handshake {
        syn_retransmissions,
        synack_retransmissions,
        server_rtt_us,
        client_rtt_us,
        caqm,
    } = *h;
    text!(out, "{\"syn_retransmissions\":");
    number(out, u64::from(syn_retransmissions));
    numbers!(out, synack_retransmissions);
    if let Some(server_rtt_us) = server_rtt_us {
        numbers!(out, server_rtt_us);
    }
    if let Some(client_rtt_us) = client_rtt_us {
        numbers!(out, client_rtt_us);
    }
    if let Some(caqm) = caqm {
        text!(out, ",\"caqm\":");
        name(
            out,
            match caqm {
                CaqmOffer::Negotiated => "negotiated",
                CaqmOffer::NotAnswered => "not_answered",
                CaqmOffer::NotAsked => "not_asked",
                CaqmOffer::Ambiguous => "ambiguous",
            },
        );
    }
    out.push(b'}');
}

fn direction(out: &mut Vec<u8>, d: &Direction) {
    let Direction {
        packets,
        data_segments,
        data_bytes,
        ref retransmissions,
        out_of_order,
        duplicate_acks,
        lost_segments,
        zero_windows,
        ref rtt_us,
        ref acks_sent,
        ref more,
    } = *d;
    text!(out, "{\"packets\":");
    number(out, packets);
    numbers!(out, data_segments, data_bytes);
    text!(out, ",\"retransmissions\":");
    let Retransmissions {
        total,
        fast,
        rto,
        tlp,
        other,
        spurious,
        unneeded,
    } = *retransmissions;
    object!(out, total, fast, rto, tlp, other, spurious, unneeded);
    numbers!(
        out,
        out_of_order,
        duplicate_acks,
        lost_segments,
        zero_windows
    );
    text!(out, ",\"rtt_us\":");
    rtt(out, rtt_us);
    text!(out, ",\"acks_sent\":");
    acks(out, acks_sent);
    write_more(out, more);
    out.push(b'}');
}

fn rtt(out: &mut Vec<u8>, r: &Rtt) {
    let Rtt {
        min,
        p50,
        p95,
        max,
        samples,
    } = *r;
    object!(out, min, p50, p95, max, samples);
}

fn spread(out: &mut Vec<u8>, s: &Spread) {
    let Spread { min, p50, max } = *s;
    object!(out, min, p50, max);
}

fn acks(out: &mut Vec<u8>, a: &AcksSent) {
    let AcksSent {
        total,
        immediate,
        second_segment,
        delayed,
        piggybacked,
        other,
        first_delayed_segment,
        ref immediate_us,
        ref delayed_us,
        path_us,
        ref since_last_us,
        ref modes,
    } = *a;
    text!(out, "{\"total\":");
    number(out, total);
    numbers!(out, immediate, second_segment, delayed, piggybacked, other);
    match first_delayed_segment {
        Some(first_delayed_segment) => {
            numbers!(out, first_delayed_segment);
        }
        None => text!(out, ",\"first_delayed_segment\":null"),
    }
    text!(out, ",\"immediate_us\":");
    spread(out, immediate_us);
    text!(out, ",\"delayed_us\":");
    spread(out, delayed_us);
    if let Some(path_us) = path_us {
        numbers!(out, path_us);
    }
    if let Some(s) = since_last_us {
        text!(out, ",\"since_last_us\":");
        spread(out, s);
    }
    if !modes.is_empty() {
        text!(out, ",\"modes\":");
        list!(out, modes, stretch);
    }
    out.push(b'}');
}

fn stretch(out: &mut Vec<u8>, m: &AckMode) {
    let AckMode {
        mode,
        from_segment,
        from_byte,
        acks,
        mean_us,
    } = *m;
    text!(out, "{\"mode\":");
    name(
        out,
        match mode {
            Mode::Quick => "quick",
            Mode::Delayed => "delayed",
        },
    );
    numbers!(out, from_segment, from_byte, acks, mean_us);
    out.push(b'}');
}

/// The members of a direction that are left out when they say nothing.
fn write_more(out: &mut Vec<u8>, m: &DirectionMore) {
    let DirectionMore {
        unique_bytes,
        goodput_bps,
        max_payload_bytes,
        max_in_flight_bytes,
        window_bytes,
        mss,
        window_scale,
        sack_permitted,
        timestamps,
        dsacks,
        zero_window_probes,
        keep_alives,
        window_updates,
        window_full,
        ref rtt_ts_us,
        ecn_ect,
        ecn_ce,
        ecn_ece,
        ecn_cwr,
        caqm,
        ref caqm_tags,
        ref episodes,
        episodes_not_listed,
    } = *m;
    nonzero!(out, unique_bytes, goodput_bps, max_payload_bytes);
    nonzero!(out, max_in_flight_bytes);
    if let Some((low, high)) = window_bytes {
        text!(out, ",\"window_bytes\":[");
        number(out, low);
        out.push(b',');
        number(out, high);
        out.push(b']');
    }
    if let Some(mss) = mss {
        numbers!(out, mss);
    }
    if let Some(window_scale) = window_scale {
        numbers!(out, window_scale);
    }
    if sack_permitted {
        text!(out, ",\"sack_permitted\":true");
    }
    if timestamps {
        text!(out, ",\"timestamps\":true");
    }
    nonzero!(out, dsacks, zero_window_probes, keep_alives);
    nonzero!(out, window_updates, window_full);
    if let Some(r) = rtt_ts_us {
        text!(out, ",\"rtt_ts_us\":");
        rtt(out, r);
    }
    nonzero!(out, ecn_ect, ecn_ce, ecn_ece, ecn_cwr, caqm);
    if let Some(tags) = caqm_tags {
        write_tags(out, tags);
    }
    if !episodes.is_empty() {
        text!(out, ",\"episodes\":");
        list!(out, episodes, episode);
    }
    nonzero!(out, episodes_not_listed);
}

fn write_tags(out: &mut Vec<u8>, tags: &CaqmTags) {
    let CaqmTags {
        requests,
        granted,
        refused,
        marked,
        contradictory,
        last_hop,
        asked_bytes,
        granted_bytes,
        taken_bytes,
        feedback,
        feedback_plus_bytes,
        feedback_minus_bytes,
        foreign,
        on_syn,
        oversize,
    } = *tags;
    text!(out, ",\"caqm_tags\":{\"requests\":");
    number(out, requests);
    numbers!(
        out,
        granted,
        refused,
        marked,
        contradictory,
        last_hop,
        asked_bytes,
        granted_bytes,
        taken_bytes,
        feedback,
        feedback_plus_bytes,
        feedback_minus_bytes,
        foreign,
        on_syn,
        oversize
    );
    out.push(b'}');
}

fn episode(out: &mut Vec<u8>, e: &Episode) {
    let Episode {
        kind,
        packet,
        start_ns,
        duration_us,
        retransmissions,
        spurious,
    } = *e;
    text!(out, "{\"kind\":");
    name(out, kind_name(kind));
    numbers!(out, packet);
    text!(out, ",\"start_ns\":");
    if start_ns < 0 {
        out.push(b'-');
    }
    number(out, start_ns.unsigned_abs());
    match duration_us {
        Some(duration_us) => {
            numbers!(out, duration_us);
        }
        None => text!(out, ",\"duration_us\":null"),
    }
    numbers!(out, retransmissions);
    if let Some(evidence) = spurious {
        text!(out, ",\"spurious\":");
        name(out, evidence_name(evidence));
    }
    out.push(b'}');
}

const fn state_name(s: State) -> &'static str {
    match s {
        State::Complete => "complete",
        State::Open => "open",
        State::Reset => "reset",
        State::HalfOpen => "half_open",
        State::Refused => "refused",
        State::Middle => "middle",
    }
}

const fn vantage_name(v: Vantage) -> &'static str {
    match v {
        Vantage::Client => "client",
        Vantage::Server => "server",
        Vantage::Between => "between",
        Vantage::Unknown => "unknown",
    }
}

const fn artefact_name(a: Artefact) -> &'static str {
    match a {
        Artefact::SuperSegments => "super_segments",
        Artefact::OneDirection => "one_direction",
        Artefact::MissedPackets => "missed_packets",
        Artefact::Duplicates => "duplicates",
        Artefact::TimeOutOfOrder => "time_out_of_order",
        Artefact::Snapped => "snapped",
    }
}

const fn kind_name(k: EpisodeKind) -> &'static str {
    match k {
        EpisodeKind::Fast => "fast",
        EpisodeKind::Rto => "rto",
        EpisodeKind::Tlp => "tlp",
        EpisodeKind::Other => "other",
    }
}

const fn evidence_name(e: SpuriousEvidence) -> &'static str {
    match e {
        SpuriousEvidence::Dsack => "dsack",
        SpuriousEvidence::Timestamps => "timestamps",
        SpuriousEvidence::AckTooSoon => "ack_too_soon",
    }
}

/// Appends a name of our own between quotes.
fn name(out: &mut Vec<u8>, text: &'static str) {
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends text between quotes; `serde_json` does the rare one that needs more than quotes.
fn string(out: &mut Vec<u8>, text: &str) {
    let special = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    if !text.as_bytes().iter().any(special) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else if let Ok(escaped) = serde_json::to_vec(text) {
        out.extend_from_slice(&escaped);
    }
}

/// Appends a number; most have one digit, and many of the others two.
#[inline]
fn number(out: &mut Vec<u8>, n: u64) {
    if n < 10 {
        out.push(b'0' + n as u8);
    } else if n < 100 {
        out.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
    } else {
        digits(out, n);
    }
}

/// Eight digits at a time, found by halving (4, 2, 1) in the lanes of one word, without a loop over digits.
fn digits(out: &mut Vec<u8>, n: u64) {
    const EIGHT: u64 = 100_000_000;
    if n >= EIGHT {
        digits(out, n / EIGHT);
        out.extend_from_slice(&(eight(n % EIGHT) | ZEROS).to_le_bytes());
        return;
    }
    let lanes = eight(n);
    let leading = (lanes.trailing_zeros() / 8).min(7);
    let all = ((lanes | ZEROS) >> (8 * leading)).to_le_bytes();
    let end = out.len() + 8 - leading as usize;
    out.extend_from_slice(&all);
    out.truncate(end);
}

/// `00000000`.
const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// The eight digits of a number below 10^8, one in each byte, the first in the lowest.
const fn eight(n: u64) -> u64 {
    // Four digits in each half, two in each quarter, one in each byte; the quotient goes below, what is left above.
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

#[cfg(test)]
mod tests;
