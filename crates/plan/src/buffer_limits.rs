//! What setsockopt(2) makes smaller than it was asked for, without an error: buffers, and SO_RCVLOWAT.

use crate::point::SocketOptions;

/// What the kernel holds as many bytes of as was asked for, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `net.core.rmem_max`, for SO_RCVBUF.
    pub rcvbuf: u32,
    /// `net.core.wmem_max`, for SO_SNDBUF.
    pub sndbuf: u32,
    /// Half of what the receive buffer may become, for SO_RCVLOWAT (`tcp_set_rcvlowat()`).
    pub rcvlowat: u32,
}

/// Says which buffers of these sockets a stack with these limits makes smaller.
pub fn limited(app: &str, is_client: bool, wanted: &SocketOptions, limits: Limits) -> Vec<String> {
    let side = if is_client { "client" } else { "server" };
    let each = made_smaller(wanted, limits);
    each.map(|words| format!("{side} of {app}: {words}"))
        .collect()
}

/// What a stack with these limits makes smaller for one socket.
pub fn made_smaller(wanted: &SocketOptions, limits: Limits) -> impl Iterator<Item = String> {
    let both = [
        ("rcvbuf", "rmem", wanted.rcvbuf, limits.rcvbuf),
        ("sndbuf", "wmem", wanted.sndbuf, limits.sndbuf),
    ];
    let too_large = both.into_iter().filter_map(|(key, mem, wanted, limit)| {
        let wanted = wanted.filter(|wanted| *wanted > limit)?;
        Some(format!(
            "{key} is {limit}, not {wanted}: net.core.{mem}_max limits it on this stack; without {key} a TCP \
             socket's buffer may grow to the third number of net.ipv4.tcp_{mem}"
        ))
    });
    let rcvlowat = wanted.rcvlowat.filter(|wanted| *wanted > limits.rcvlowat);
    let lowat = rcvlowat.map(|wanted| {
        let limit = limits.rcvlowat;
        format!("rcvlowat is {limit}, not {wanted}: half of the largest receive buffer limits it")
    });
    too_large.chain(lowat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_buffers_than_the_limits_are_told() {
        let wanted = SocketOptions {
            rcvbuf: Some(500_000),
            sndbuf: Some(212_992),
            ..SocketOptions::default()
        };
        let limits = |rcvbuf, sndbuf| Limits {
            rcvbuf,
            sndbuf,
            rcvlowat: 3_145_728,
        };
        let said = limited("bulk", false, &wanted, limits(212_992, 212_992));
        assert_eq!(said.len(), 1);
        for what in [
            "server of bulk: rcvbuf is 212992, not 500000",
            "net.core.rmem_max",
        ] {
            assert!(said[0].contains(what), "{said:?}");
        }
        assert!(limited("bulk", true, &wanted, limits(500_000, 300_000)).is_empty());
        let lowat = SocketOptions {
            rcvlowat: Some(1 << 30),
            ..SocketOptions::default()
        };
        let said = limited("bulk", false, &lowat, limits(1, 1));
        assert!(
            said[0].contains("rcvlowat is 3145728, not 1073741824"),
            "{said:?}"
        );
        assert!(limited("bulk", true, &SocketOptions::default(), limits(0, 0)).is_empty());
    }
}
