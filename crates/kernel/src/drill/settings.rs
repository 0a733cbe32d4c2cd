//! Settings that shell lines of scripts ask for, carried out in the script's own network.

use std::io;
use std::net::{IpAddr, UdpSocket};

use netlink_packet_route::route::RouteMetric;
use tcplab_drill::{Network, Setting, TargetError};
use tcplab_os::netlink::{LOCK_RTO_MIN, flush_tcp_metrics};
use tcplab_os::sys;

use super::device::NAME;
use super::network::Net;
use crate::run::qdisc;

/// RTAX_MTU's and RTAX_CWND's bits in RTAX_LOCK.
const LOCK_MTU: u32 = 1 << 2;
const LOCK_CWND: u32 = 1 << 7;

/// RTAX_FEATURE_ECN.
const FEATURE_ECN: u32 = 1;

/// Names of ethtool(8) with the commands that switch them (linux/ethtool.h).
const OFFLOADS: [(&str, &str, u32); 6] = [
    ("rx", "rx-checksumming", 0x15),
    ("tx", "tx-checksumming", 0x17),
    ("sg", "scatter-gather", 0x19),
    ("tso", "tcp-segmentation-offload", 0x1f),
    ("gso", "generic-segmentation-offload", 0x24),
    ("gro", "generic-receive-offload", 0x2c),
];

/// Carries out a setting in the script's network.
pub(super) fn set(net: &mut Net, setting: &Setting, network: &Network) -> Result<(), TargetError> {
    let done = match setting {
        Setting::Sysctl(key, value) => net.sysctl(key, value).and_then(|is_there| match is_there {
            true => Ok(()),
            false => Err(format!("this kernel has no sysctl {key}")),
        }),
        Setting::SysctlIfThere(key, value) => net.sysctl(key, value).map(drop),
        Setting::RestoreSysctls => net.restore_sysctls(),
        Setting::FlushMetrics => flush_tcp_metrics().map_err(|e| format!("ip tcp_metrics: {e}")),
        Setting::Route(destination, words) => {
            (network.has_route_to(destination)).and_then(|()| route(net, words, network.remote))
        }
        Setting::Qdisc(words) => queue(net, words),
        Setting::Offload(name, on) => offload(name, *on),
        Setting::Mtu(bytes) => (net.netlink.set_mtu(NAME, *bytes))
            .map_err(|e| format!("ip link set {NAME} mtu {bytes}: {e}")),
        Setting::Nothing => Ok(()),
    };
    done.map_err(TargetError)
}

fn queue(net: &Net, words: &[String]) -> Result<(), String> {
    if words.is_empty() {
        return match net.netlink.delete_qdisc(NAME) {
            // Only the default qdisc was there.
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            done => done.map_err(|e| format!("tc qdisc delete: {e}")),
        };
    }
    qdisc::put(&net.netlink, NAME, &words.join(" ")).map_err(|e| e.to_string())
}

fn offload(name: &str, on: bool) -> Result<(), String> {
    let known = OFFLOADS.iter().find(|o| o.0 == name || o.1 == name);
    let Some((.., command)) = known else {
        return Err(format!("ethtool: the offload {name} is not known here"));
    };
    // Any socket will do.
    UdpSocket::bind("127.0.0.1:0")
        .and_then(|socket| sys::ethtool_set(&socket, NAME, *command, on.into()))
        .map_err(|e: io::Error| format!("ethtool -K {NAME} {name}: {e}"))
}

fn route(net: &Net, words: &[String], remote: IpAddr) -> Result<(), String> {
    let said = parse_route(words)?;
    if said
        .via
        .is_some_and(|via| via.is_ipv4() != remote.is_ipv4())
    {
        return Err(format!(
            "ip route: there is no route of this family, for {remote}"
        ));
    }
    net.netlink
        .route(NAME, (None, remote), said.via, said.metrics)
        .map_err(|e| format!("ip route: {e}"))
}

/// What the words of a route say.
#[derive(Debug, Default, PartialEq)]
struct Route {
    via: Option<IpAddr>,
    metrics: Vec<RouteMetric>,
}

fn parse_route(words: &[String]) -> Result<Route, String> {
    let mut route = Route::default();
    let mut lock = 0;
    let mut words = words.iter().map(String::as_str);
    while let Some(name) = words.next() {
        let mut value = words.next();
        let locked = value == Some("lock");
        if locked {
            value = words.next();
        }
        let value = value.ok_or_else(|| format!("ip route: {name} lacks its value"))?;
        let wrong = || format!("ip route: {name} {value}: no number");
        let number = || value.parse::<u32>().map_err(|_| wrong());
        let bit = match name {
            "via" => {
                let via = value.parse();
                route.via =
                    Some(via.map_err(|_| format!("ip route: via {value}: not an IP address"))?);
                continue;
            }
            "dev" | "proto" | "scope" => continue,
            "mtu" => LOCK_MTU,
            "cwnd" => LOCK_CWND,
            _ => 0,
        };
        lock |= if locked { bit } else { 0 };
        route.metrics.push(match name {
            "mtu" => RouteMetric::Mtu(number()?),
            "advmss" => RouteMetric::Advmss(number()?),
            "cwnd" => RouteMetric::Cwnd(number()?),
            "initcwnd" => RouteMetric::InitCwnd(number()?),
            "initrwnd" => RouteMetric::InitRwnd(number()?),
            "window" => RouteMetric::Window(number()?),
            "ssthresh" => RouteMetric::SsThresh(number()?),
            "reordering" => RouteMetric::Reordering(number()?),
            "hoplimit" => RouteMetric::Hoplimit(number()?),
            "quickack" => RouteMetric::QuickAck(number()?),
            "fastopen_no_cookie" => RouteMetric::FastopenNoCookie(number()?),
            "congctl" => RouteMetric::CcAlgo(value.to_owned()),
            "features" if value == "ecn" => RouteMetric::Features(FEATURE_ECN),
            // The kernel ignores it without its lock.
            "rto_min" => {
                lock |= LOCK_RTO_MIN;
                RouteMetric::RtoMin(milliseconds(value).ok_or_else(wrong)?)
            }
            // The kernel counts in eighths and quarters.
            "rtt" => RouteMetric::Rtt(milliseconds(value).ok_or_else(wrong)?.saturating_mul(8)),
            "rttvar" => {
                RouteMetric::RttVar(milliseconds(value).ok_or_else(wrong)?.saturating_mul(4))
            }
            _ => return Err(format!("ip route: the word {name} is not known here")),
        });
    }
    if lock != 0 {
        route.metrics.insert(0, RouteMetric::Lock(lock));
    }
    Ok(route)
}

/// A time with or without its unit.
fn milliseconds(value: &str) -> Option<u32> {
    let (number, factor) = match value.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => match value.strip_suffix('s') {
            Some(number) => (number, 1000),
            None => (value, 1),
        },
    };
    number.parse::<u32>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Route, String> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        parse_route(&words)
    }

    #[test]
    fn words_of_a_route() {
        let route = parse("via 10.0.0.1 dev tun0 advmss 600 mtu lock 640 rto_min 1s").unwrap();
        assert_eq!(route.via, Some("10.0.0.1".parse().unwrap()));
        assert_eq!(
            route.metrics,
            [
                RouteMetric::Lock(LOCK_MTU | LOCK_RTO_MIN),
                RouteMetric::Advmss(600),
                RouteMetric::Mtu(640),
                RouteMetric::RtoMin(1000),
            ]
        );
        assert_eq!(parse("dev tun0").unwrap(), Route::default());
    }

    #[test]
    fn what_is_not_known_is_said() {
        for (text, what) in [
            ("via nowhere", "not an IP address"),
            ("mtu big", "no number"),
            ("mtu", "lacks"),
            ("mtu lock", "lacks"),
            ("nexthop 1", "not known"),
        ] {
            assert!(parse(text).unwrap_err().contains(what), "{text}");
        }
    }
}
