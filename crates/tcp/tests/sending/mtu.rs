//! MTU probing (RFC 4821): the search, a probe that is lost, a black hole.

use tcplab_tcp::{ConnId, Counter, OpenOptions};

use crate::net::{MS, Net, Seen, host};

/// A client with `net.ipv4.tcp_mtu_probing`, 20 ms from a server that reads all.
fn client(probing: u8, lose: fn(&Seen) -> bool) -> (Net, ConnId) {
    let mut sender = host();
    sender.sysctl.tcp_mtu_probing = probing;
    let options = OpenOptions {
        sndbuf: Some(4_000_000),
        ..OpenOptions::default()
    };
    let mut net = Net::new(sender, host(), &options, 10 * MS);
    let (client, server) = net.open(&options);
    net.reader = Some(server);
    net.lose = lose;
    (net, client)
}

/// Lengths of data segments that were longer than all before them, after the client wrote as much as it could.
fn growth(net: &mut Net, client: ConnId, ms: i64) -> Vec<u32> {
    let mut left = 20_000_000;
    for _ in 0..ms {
        left -= net.write(0, client, left);
        net.run_for(MS);
    }
    let mut longest = 0;
    let lengths = net.data(0).into_iter().map(|(_, len)| len);
    lengths
        .filter(|len| {
            let longer = *len > longest;
            longest = longest.max(*len);
            longer
        })
        .collect()
}

fn count(net: &Net, counter: Counter) -> u64 {
    net.hosts[0].mib.get(counter)
}

/// From tcp_base_mss up, each probe in the middle of what is left, until less than 8 bytes are.
#[test]
fn the_search_halves_the_interval() {
    let (mut net, id) = client(2, |_| false);
    let sizes = growth(&mut net, id, 2000);
    assert_eq!(sizes[..5], [1024, 1236, 1342, 1395, 1421]);
    assert_eq!(sizes.len() as u64, 1 + count(&net, Counter::MTUPSuccess));
    assert!(sizes.last() < Some(&1448), "{sizes:?}");
    assert_eq!(count(&net, Counter::RetransSegs), 0);
}

/// What was too long is sent again in two pieces.
#[test]
fn a_lost_probe_is_cut() {
    let (mut net, id) = client(2, |seen| seen.segment.len > 1300 && seen.at < 80 * MS);
    let sizes = growth(&mut net, id, 85);
    assert_eq!(sizes[..3], [1024, 1236, 1342]);
    assert_eq!(count(&net, Counter::MTUPFail), 1);
    let seq = |len: u32| net.log.iter().find(|seen| seen.segment.len == len).unwrap();
    let lost = seq(1342).segment;
    let again: Vec<u32> = (net.log.iter())
        .filter(|seen| seen.from == 0 && seen.at > 80 * MS)
        .filter(|seen| seen.segment.seq.before(lost.end_seq()))
        .map(|seen| seen.segment.len)
        .collect();
    assert_eq!(again[..2], [1236, 106]);
    // The search goes on below the probe that was lost.
    growth(&mut net, id, 100);
    assert!(net.data(0).iter().any(|(_, len)| *len == 1288));
}

/// A path that takes 1300 bytes: the search ends within its threshold.
#[test]
fn the_search_finds_what_the_path_takes() {
    let (mut net, id) = client(2, |seen| seen.segment.len > 1300);
    growth(&mut net, id, 2000);
    assert!(count(&net, Counter::MTUPFail) >= 2);
    assert_eq!(count(&net, Counter::Timeouts), 0);
    let lengths = net.data(0).into_iter().rev().take(100);
    let last = lengths.map(|(_, len)| len).max().unwrap();
    assert!((1290..=1300).contains(&last), "{last}");
}

/// 1: nothing but full segments, until three timeouts show a black hole; then as above.
#[test]
fn a_black_hole_is_found_by_its_timeouts() {
    let (mut net, id) = client(1, |seen| seen.segment.len > 1200);
    let mut left = 100_000;
    for _ in 0..20_000 {
        left -= net.write(0, id, left);
        net.run_for(MS);
    }
    assert_eq!(left, 0);
    let lengths: Vec<u32> = net.data(0).into_iter().map(|(_, len)| len).collect();
    assert_eq!(lengths[..10], [1448; 10]);
    let small = lengths.iter().position(|len| *len == 1024).unwrap();
    assert!(lengths[..small].iter().all(|len| *len == 1448));
    assert!(count(&net, Counter::Timeouts) >= 3);
    let last = net.hosts[0]
        .connections()
        .next()
        .map(|(_, end)| end.is_closed());
    assert_eq!(last, Some(false));
    // Off: the connection hangs on.
    let (mut net, id) = client(0, |seen| seen.segment.len > 1200);
    net.write(0, id, 100_000);
    net.run_for(20_000 * MS);
    assert!(net.data(0).iter().all(|(_, len)| *len == 1448));
}
