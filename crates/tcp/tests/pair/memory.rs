//! The memory of connections: small when they are idle, and freed when they end.

use tcplab_tcp::{ConnId, ReadOutcome};

use crate::link::{Pair, S};

/// Connections that were used once and are idle now: all data is ACKed and read.
fn idle(connections: usize) -> (Pair, Vec<(ConnId, ConnId)>) {
    let mut pair = Pair::new();
    pair.keep_log = false;
    let listener = pair.listen();
    let mut ids = Vec::new();
    for n in 0..connections {
        let client = pair.connect();
        // Every one begins at a time of its own, and sends as much as none before it.
        pair.settle(S);
        let (server, _) = pair.hosts[1].accept(pair.now, listener).expect("it stands");
        let bytes = 100 + (n as u64 * 7) % 1000;
        transaction(&mut pair, (client, server), bytes);
        ids.push((client, server));
    }
    pair.run(10 * S);
    (pair, ids)
}

/// A request and a response of ten times as many bytes.
fn transaction(pair: &mut Pair, (client, server): (ConnId, ConnId), bytes: u64) {
    for (from, writer, reader, bytes) in
        [(0, client, server, bytes), (1, server, client, 10 * bytes)]
    {
        let wrote = pair.with(from, writer, |ep, cx| ep.write(cx, bytes, false));
        assert_eq!(wrote, Ok(bytes));
        let mut left = bytes;
        while left > 0 {
            match pair.with(1 - from, reader, |ep, cx| ep.read(cx, left)) {
                ReadOutcome::Got(n) => left -= n,
                other => {
                    assert_eq!(other, ReadOutcome::Again);
                    assert!(pair.step(), "it hangs");
                }
            }
        }
    }
    pair.settle(S);
}

#[test]
fn an_idle_connection_takes_less_than_300_bytes_of_a_host() {
    // Twice as many: what a host has once does not count.
    let [few, many] = [112, 224].map(|connections| {
        let (mut pair, _) = idle(connections);
        let unpacked = pair.hosts[0].memory();
        let packed = pair.hosts.each_mut().map(|host| {
            host.pack_idle();
            host.check();
            host.memory()
        });
        [unpacked, packed[0], packed[1]]
    });
    let each: Vec<usize> = few
        .iter()
        .zip(many)
        .map(|(few, many)| (many - few) / 112)
        .collect();
    println!(
        "unpacked {}, packed: client {}, server {}",
        each[0], each[1], each[2]
    );
    assert!(each[0] <= 1450, "an unpacked one: {} bytes", each[0]);
    assert!(each[1] <= 300, "a client: {} bytes", each[1]);
    assert!(each[2] <= 300, "a server: {} bytes", each[2]);
}

#[test]
fn the_working_set_is_bounded() {
    let (mut pair, ids) = idle(100);
    for host in &mut pair.hosts {
        host.pack_idle();
        host.keep_unpacked(20);
    }
    // Who is used again within a second would make the set larger.
    pair.run(2 * S);
    let before = pair.hosts.each_ref().map(tcplab_tcp::Stack::memory);
    for &ids in &ids {
        transaction(&mut pair, ids, 500);
    }
    for (host, before) in pair.hosts.iter().zip(before) {
        let grown = host.memory() - before;
        assert!(
            grown < 100_000,
            "{grown} bytes more for 20 connections in use"
        );
    }
    for &(client, server) in &ids {
        pair.close(0, client);
        pair.close(1, server);
    }
    pair.run(300 * S);
    for host in &mut pair.hosts {
        assert_eq!(host.connections().count(), 0);
        let left = host.memory();
        assert!(left < 100_000, "{left} bytes are left of 100 connections");
    }
}
