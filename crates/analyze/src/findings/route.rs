//! The command that gives one peer a route of its own, for remedies.

use std::net::IpAddr;

/// `ip route replace` for the host `to`, with such metrics. It works for a peer in the same subnet (no gateway), too.
pub(super) fn with(to: IpAddr, metrics: &str) -> String {
    let (bits, prefix) = if to.is_ipv4() { (32, "") } else { (128, "-6 ") };
    format!(
        "`ip {prefix}route replace {to}/{bits} [via GATEWAY] dev DEVICE {metrics}` \
         (`ip {prefix}route get {to}` names both)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_names_the_gateway_only_as_an_option() {
        let text = |to: &str| with(to.parse().expect("an address"), "rto_min 60ms");
        assert_eq!(
            text("10.77.0.1"),
            "`ip route replace 10.77.0.1/32 [via GATEWAY] dev DEVICE rto_min 60ms` (`ip route get 10.77.0.1` names both)"
        );
        assert_eq!(
            text("fd00::1"),
            "`ip -6 route replace fd00::1/128 [via GATEWAY] dev DEVICE rto_min 60ms` (`ip -6 route get fd00::1` names both)"
        );
    }
}
