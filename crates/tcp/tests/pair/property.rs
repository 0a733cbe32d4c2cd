//! Any mix of loss, reordering, duplication, corruption and calls over many seeds: bytes are delivered once, in order
//! and complete, and transfers end when the faults stop.

use tcplab_plan::point::SocketOptions;
use tcplab_tcp::{Clock, ConnId, ReadOutcome, SocketError, congestion_controls};

use crate::link::{BOOT_NS, Faults, MS, Pair, S, host};

/// One end's application: what it has yet to write, what it has read.
#[derive(Clone, Copy, Debug, Default)]
struct App {
    conn: Option<ConnId>,
    to_write: u64,
    written: u64,
    read: u64,
    /// Sees its own end of writing, and of reading.
    shut: bool,
    ended: bool,
    failed: Option<SocketError>,
    /// Largest read and write.
    piece: u64,
}

struct Transfer {
    pair: Pair,
    apps: [App; 2],
    listener: tcplab_tcp::ListenId,
}

impl Transfer {
    /// `fast`: the first bytes go with the SYN.
    fn of(seed: u64, fast: bool) -> Self {
        let mut hosts = [host(seed * 2 + 1), host(seed * 2 + 2)];
        let mut pair = Pair::of([host(1), host(2)], seed);
        for one in &mut hosts {
            let s = &mut one.sysctl;
            s.tcp_timestamps = u8::from(pair.draw(4) != 0);
            s.tcp_sack = pair.draw(4) != 0;
            s.tcp_window_scaling = pair.draw(4) != 0;
            s.tcp_ecn = pair.draw(3) as u8;
            s.tcp_early_retrans = [0, 3][pair.draw(2) as usize];
            s.tcp_recovery = pair.draw(2) as u8;
            let names: Vec<&str> = congestion_controls().collect();
            s.tcp_congestion_control = names[pair.draw(names.len() as u32) as usize].into();
            one.clock = Clock::new([100, 250, 1000][pair.draw(3) as usize], BOOT_NS);
            if fast {
                // Both sides, without cookies, on every listener.
                one.sysctl.tcp_fastopen = 0x607;
            }
        }
        let mut pair = Pair::of(hosts, seed);
        pair.delay_ns = i64::from(pair.draw(100) + 1) * MS / 2;
        pair.faults = Faults {
            loss: pair.draw(200),
            duplicate: pair.draw(100),
            reorder: pair.draw(300),
            corrupt: pair.draw(50),
        };
        let listener = pair.listen();
        let mut apps = [App::default(); 2];
        for app in &mut apps {
            app.to_write = u64::from(pair.draw(120_000));
            app.piece = 1 + u64::from(pair.draw(20_000));
        }
        let options = SocketOptions {
            nodelay: Some(pair.draw(2) == 0),
            rcvbuf: (pair.draw(3) == 0).then_some(20_000),
            sndbuf: (pair.draw(3) == 0).then_some(20_000),
            ..SocketOptions::default()
        };
        apps[0].conn = Some(match fast {
            false => pair.connect_with(&options),
            true => {
                // Not all of them: what is shut down before it stands is given up.
                let most = apps[0].to_write.saturating_sub(1);
                let bytes = u64::from(pair.draw(3_000)).min(most);
                let (id, written) = pair.connect_with_data(&options, bytes);
                apps[0].written = written;
                id
            }
        });
        Self {
            pair,
            apps,
            listener,
        }
    }

    /// One step of the world, then some calls.
    fn step(&mut self) {
        self.pair.step();
        if self.apps[1].conn.is_none() {
            let accepted = self.pair.hosts[1].accept(self.pair.now, self.listener);
            self.apps[1].conn = accepted.map(|(id, _)| id);
        }
        for side in 0..2 {
            // An application is busy elsewhere now and then.
            if self.pair.draw(4) != 0 {
                self.calls(side);
            }
        }
    }

    fn calls(&mut self, side: usize) {
        let app = &mut self.apps[side];
        let Some(id) = app.conn else {
            return;
        };
        let most = app.piece.min(app.to_write - app.written);
        if most > 0 {
            match self.pair.with(side, id, |ep, cx| ep.write(cx, most, false)) {
                Ok(n) => app.written += n,
                Err(SocketError::Again) => {}
                Err(why) => app.failed = Some(why),
            }
        } else if !app.shut {
            let done = self.pair.with(side, id, |ep, cx| ep.shutdown_write(cx));
            app.shut = done.is_ok();
        }
        match self.pair.with(side, id, |ep, cx| ep.read(cx, app.piece)) {
            ReadOutcome::Got(n) => app.read += n,
            ReadOutcome::Again => {}
            ReadOutcome::End => app.ended = true,
            ReadOutcome::Failed(why) => app.failed = Some(why),
        }
        let [one, two] = &self.apps;
        assert!(
            one.read <= two.written && two.read <= one.written,
            "read what was not written"
        );
    }

    fn is_over(&self) -> bool {
        let done = |app: &App| app.failed.is_some() || (app.ended && app.shut);
        self.apps.iter().all(done)
    }
}

/// Gives the transfer as it ended; `pack`: idle connections are packed whenever they are.
fn run(seed: u64, pack: bool, keep_log: bool) -> Transfer {
    run_to_end(seed, Transfer::of(seed, false), (pack, keep_log))
}

fn run_to_end(seed: u64, mut t: Transfer, (pack, keep_log): (bool, bool)) -> Transfer {
    t.pair.pack = pack;
    t.pair.keep_log = keep_log;
    let faults_end = 20 * S;
    for _ in 0..400_000 {
        if t.pair.now.as_nanos() > faults_end {
            t.pair.faults = Faults::default();
        }
        if t.is_over() {
            break;
        }
        // Nothing is on its way, and no timer runs: only calls can go on.
        let mut calls = 0;
        while t.pair.next().is_none() && !t.is_over() {
            t.calls(calls % 2);
            calls += 1;
            assert!(calls < 300_000, "seed {seed}: it hangs {:?}", t.apps);
        }
        t.step();
    }
    let [one, two] = &t.apps;
    assert!(t.is_over(), "seed {seed}: it never ends: {:?}", t.apps);
    for (reader, writer) in [(one, two), (two, one)] {
        assert_eq!(reader.failed, None, "seed {seed}");
        assert_eq!(reader.read, writer.to_write, "seed {seed}: not complete");
    }
    for side in 0..2 {
        let id = t.apps[side].conn.unwrap();
        t.pair.close(side, id);
    }
    t.pair.run(300 * S);
    for host in &mut t.pair.hosts {
        assert!(host.next_timer().is_none(), "seed {seed}: a timer is left");
        assert_eq!(
            host.connections().count(),
            0,
            "seed {seed}: a connection is left"
        );
    }
    t
}

#[test]
fn any_faults_deliver_all_once_and_in_order() {
    let seeds = std::env::var("TCPLAB_SEEDS")
        .ok()
        .and_then(|n| n.parse().ok());
    let first = std::env::var("TCPLAB_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    for seed in first..first + seeds.unwrap_or(2000) {
        let result = std::panic::catch_unwind(|| run(seed, seed % 2 == 1, false));
        if let Err(why) = result {
            eprintln!(
                "TCPLAB_SEED={seed} TCPLAB_SEEDS=1 cargo test -p tcplab-tcp --test pair any_faults"
            );
            std::panic::resume_unwind(why);
        }
    }
}

#[test]
fn data_of_a_syn_are_delivered_once_too() {
    let mut taken = 0;
    for seed in 9000..9400 {
        let t = run_to_end(seed, Transfer::of(seed, true), (false, false));
        taken += t.pair.count(1, "TcpExtTCPFastOpenPassive");
    }
    assert!(taken > 300, "{taken} of 400 SYNs with data were taken");
}

#[test]
fn packing_changes_nothing() {
    for seed in 5000..5200 {
        let [plain, packed] = [false, true].map(|pack| run(seed, pack, true).pair);
        assert_eq!(plain.log, packed.log, "seed {seed}");
        assert_eq!(plain.events, packed.events, "seed {seed}");
        for (one, two) in plain.hosts.iter().zip(&packed.hosts) {
            assert!(one.mib.iter().eq(two.mib.iter()), "seed {seed}");
        }
    }
}
