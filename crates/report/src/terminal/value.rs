//! Values of measures as people write them: the unit follows from the measure's name (docs/experiment.md).

use tcplab_base::quantity::{BITS_PER_SECOND, BYTES, Digits, MICROSECONDS, count, figure};

/// A value of a measure in four digits: `4.695 Gbit/s`, `133.2 kB`, `646 us`. What has no unit is a whole number as such,
/// and others have three decimals.
pub fn measured(name: &str, value: f64) -> String {
    let has = |word: &str| {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with('.');
        name.match_indices(word)
            .any(|(at, _)| ends(&name[at + word.len()..]))
    };
    let scale = match () {
        () if has("_bps") => BITS_PER_SECOND,
        () if has("_us") => MICROSECONDS,
        () if has("_bytes") || has(".bytes") => BYTES,
        () => return plain(value),
    };
    figure(value, scale, Digits::Four)
}

fn plain(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true if value >= 0.0 => count(value as u64),
        true => format!("-{}", count(-value as u64)),
        false => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_the_unit() {
        for (name, value, text) in [
            ("flow.goodput_bps", 4_695_123_456.789, "4.695 Gbit/s"),
            ("flow.goodput_bps", 999_960_000.0, "1 Gbit/s"),
            ("flow.goodput_bps", 999_900_000.0, "999.9 Mbit/s"),
            ("flow.connection_bps.min", 0.0, "0 bit/s"),
            ("link.a-b.a_to_b.queue_mean_bytes", 133_181.0, "133.2 kB"),
            ("link.a-b.a_to_b.queue_mean_bytes", 999.0, "999 B"),
            ("link.a-b.a_to_b.bytes", 12e6, "12 MB"),
            ("web.latency_us.p50", 646.0, "646 us"),
            ("web.latency_us.p99", 12_575.3, "12.58 ms"),
            ("flow.to_fair_us.max", 1_507_800.0, "1.508 s"),
            ("a.latency_us.p50", -20.5, "-20.5 us"),
            // Neither of these is a unit.
            ("link.a-b.a_to_b.queue_drops", 170_922.0, "170,922"),
            ("client.TcpExtTCP_uses", -5_000.0, "-5,000"),
            ("flow.jain.mean", 0.9614, "0.961"),
            ("rrul.Ping (ms) avg.p99", 184.9999, "185.000"),
        ] {
            assert_eq!(measured(name, value), text, "{name} {value}");
        }
    }
}
