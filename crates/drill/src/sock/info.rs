//! `struct tcp_info` as bytes (include/uapi/linux/tcp.h of Linux 6.1).

/// Fields of one byte, in front.
const BYTES: [&str; 6] = [
    "tcpi_state",
    "tcpi_ca_state",
    "tcpi_retransmits",
    "tcpi_probes",
    "tcpi_backoff",
    "tcpi_options",
];
/// Fields of eight bytes; all others have four.
const LONG: [&str; 10] = [
    "tcpi_pacing_rate",
    "tcpi_max_pacing_rate",
    "tcpi_bytes_acked",
    "tcpi_bytes_received",
    "tcpi_delivery_rate",
    "tcpi_busy_time",
    "tcpi_rwnd_limited",
    "tcpi_sndbuf_limited",
    "tcpi_bytes_sent",
    "tcpi_bytes_retrans",
];
/// Fields that are parts of bytes.
const PARTS: [&str; 4] = [
    "tcpi_snd_wscale",
    "tcpi_rcv_wscale",
    "tcpi_delivery_rate_app_limited",
    "tcpi_fastopen_client_fail",
];

/// The structure, little-endian, from names and values in its order.
pub(super) fn bytes(fields: &[(&'static str, i64)]) -> Vec<u8> {
    let get = |name: &str| fields.iter().find(|f| f.0 == name).map_or(0, |f| f.1);
    let mut out: Vec<u8> = BYTES.iter().map(|name| get(name) as u8).collect();
    let [snd, rcv, limited, fail] = PARTS.map(get);
    out.push(((snd & 15) | (rcv & 15) << 4) as u8);
    out.push(((limited & 1) | (fail & 3) << 1) as u8);
    for &(name, value) in fields {
        if BYTES.contains(&name) || PARTS.contains(&name) {
            continue;
        }
        if LONG.contains(&name) {
            // What has no limit is all ones.
            let value = if value == i64::MAX {
                u64::MAX
            } else {
                value as u64
            };
            out.extend(value.to_le_bytes());
        } else {
            out.extend((value as u32).to_le_bytes());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_kernel_has_them() {
        let fields = [
            ("tcpi_state", 1),
            ("tcpi_snd_wscale", 7),
            ("tcpi_rcv_wscale", 8),
            ("tcpi_rto", 204_000),
            ("tcpi_pacing_rate", i64::MAX),
        ];
        let bytes = bytes(&fields);
        assert_eq!((bytes[0], bytes[6]), (1, 0x87));
        assert_eq!(bytes[8..12], 204_000_u32.to_le_bytes());
        assert_eq!(bytes[12..], u64::MAX.to_le_bytes());
    }
}
