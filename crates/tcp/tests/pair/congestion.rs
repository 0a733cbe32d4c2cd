//! What holds for every congestion control of the list.

use tcplab_tcp::{HostConfig, ReadOutcome, congestion_controls};

use crate::link::{MS, Pair, S, host};

fn with(name: &str, ecn: u8, secret: u64) -> HostConfig {
    let mut host = host(secret);
    host.sysctl.tcp_congestion_control = name.into();
    host.sysctl.tcp_ecn = ecn;
    host
}

/// An MB with losses arrives, whichever algorithm sends it, and its window has been larger than the first.
#[test]
fn each_grows_loses_and_delivers() {
    for name in congestion_controls() {
        let mut pair = Pair::of([with(name, 1, 1), with(name, 1, 2)], 7);
        pair.delay_ns = 20 * MS;
        let (client, server) = pair.established();
        pair.settle(S);
        pair.faults.loss = 5;
        let (mut left, mut got, mut most) = (1_000_000, 0, 0);
        while got < 1_000_000 {
            left -= pair
                .with(0, client, |ep, cx| ep.write(cx, left, false))
                .unwrap_or(0);
            assert!(pair.step(), "{name} hangs after {got} bytes");
            while let ReadOutcome::Got(n) = pair.with(1, server, |ep, cx| ep.read(cx, u64::MAX)) {
                got += n;
            }
            let info = pair.with(0, client, |ep, cx| ep.info(cx));
            let cwnd = info.iter().find(|(field, _)| *field == "tcpi_snd_cwnd");
            most = most.max(cwnd.map_or(0, |(_, value)| *value));
        }
        assert!(most > 10, "{name}: the window was {most} at most");
        assert!(pair.count(0, "TcpRetransSegs") > 0, "{name} lost nothing");
    }
}

/// As getsockopt(TCP_CONGESTION) gives it on Linux 6.1; what the peer does not take part in is a Reno with a name of its own.
#[test]
fn an_established_connection_has_the_name_that_linux_gives() {
    for name in congestion_controls() {
        for (server, ecn) in [(name, 1), ("cubic", 0)] {
            let mut pair = Pair::of([with(name, ecn, 1), with(server, ecn, 2)], 7);
            let (client, _) = pair.established();
            let is = pair.hosts[0].get(client).map(|ep| ep.congestion_name());
            let expected = match (name, server) {
                ("dctcp", "cubic") => "dctcp-reno",
                // Nobody switched it on.
                ("caqm", _) => "caqm_reno",
                _ => name,
            };
            assert_eq!(is, Some(expected), "{name}, the server with {server}");
        }
    }
}
