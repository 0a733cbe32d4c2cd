//! Congestion controls from outside: a Reno through [`Algorithm`] sends the same packets as the model's own, on any
//! path.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tcplab_base::Instant;
use tcplab_tcp::external::{Ack, Algorithm, CaState, Change, Maker, View};

use crate::experiments::{ALL, IDLE, LOSS, text};
use crate::runs::{Came, Run};

const END: Instant = Instant::from_nanos(i64::MAX);

/// RFC 5681 3.1, by what a view shows.
#[derive(Debug, Default)]
struct Reno {
    /// Packets delivered since the window grew (`snd_cwnd_cnt`).
    count: u32,
}

impl Algorithm for Reno {
    fn on_ack(&mut self, view: &View, ack: &Ack) -> Change {
        let (mut cwnd, mut acked) = (view.snd_cwnd, ack.acked);
        if !view.is_cwnd_limited {
            return Change::default();
        }
        if cwnd < view.snd_ssthresh {
            let grown = (cwnd + acked).min(view.snd_ssthresh);
            acked -= grown - cwnd;
            cwnd = grown;
        }
        if acked > 0 {
            let w = cwnd;
            if self.count >= w {
                self.count = 0;
                cwnd += 1;
            }
            self.count += acked;
            let more = self.count / w;
            self.count -= more * w;
            cwnd += more;
        }
        Change {
            snd_cwnd: Some(cwnd),
            ..Change::default()
        }
    }

    fn ssthresh(&mut self, view: &View) -> u32 {
        self.count = 0;
        (view.snd_cwnd / 2).max(2)
    }

    fn set_state(&mut self, _: &View, next: CaState) -> Change {
        if next == CaState::Loss {
            self.count = 0;
        }
        Change::default()
    }
}

fn maker(make: impl Fn() -> Box<dyn Algorithm> + Send + Sync + 'static) -> Maker {
    Maker {
        name: "mine".into(),
        needs_ecn: false,
        controls_cwnd: false,
        make: Arc::new(move |_, _| make()),
    }
}

fn run(text: &str, maker: Option<Maker>) -> Came {
    let mut run = Run::new(text);
    if let Some(maker) = maker {
        for host in 0..2 {
            let set = run.world.set_congestion(host, maker.clone());
            set.expect("the run has not begun");
        }
    }
    run.world.run_until(END, || true);
    assert!(run.world.is_over());
    run.came()
}

/// A counter of both hosts.
fn count(came: &Came, counter: &str) -> i64 {
    let hosts = came.outcome.counters.values();
    hosts.filter_map(|counters| counters.get(counter)).sum()
}

#[test]
fn reno_from_outside_gives_the_packets_of_reno() {
    for (name, of) in ALL {
        let mut seen = [0; 8];
        for seed in 1..=20 {
            let text = text(of, seed);
            let own = run(&text, None);
            let outside = run(&text, Some(maker(|| Box::<Reno>::default())));
            assert!(own == outside, "{name}, seed {seed}");
            for (sum, counter) in seen.iter_mut().zip(COUNTERS) {
                *sum += count(&own, counter);
            }
        }
        println!("{name}: {seen:?}");
        let [_, timeouts, recoveries, marks, undone @ ..] = seen;
        let met = match name {
            "loss" => recoveries > 50,
            "timeouts" => timeouts > 100,
            "ecn" => marks > 100,
            "reordering" => undone.iter().sum::<i64>() > 20,
            _ => recoveries > 10,
        };
        assert!(met, "{name} met nothing: {seen:?}");
    }
}

/// What the experiments are for.
const COUNTERS: [&str; 8] = [
    "TcpRetransSegs",
    "TcpExtTCPTimeouts",
    "TcpExtTCPSackRecovery",
    "TcpExtTCPDeliveredCE",
    "TcpExtTCPFullUndo",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPLossUndo",
];

/// The pauses of [`IDLE`] do begin the window anew.
#[test]
fn the_idle_experiment_restarts() {
    let text = text(IDLE, 1);
    let without = text.replace("after_idle\" = 1", "after_idle\" = 0");
    assert!(run(&text, None) != run(&without, None));
}

/// The test above can fail: a window that falls by a quarter sends other packets.
#[test]
fn another_algorithm_gives_other_packets() {
    #[derive(Debug, Default)]
    struct Gentle(Reno);
    impl Algorithm for Gentle {
        fn on_ack(&mut self, view: &View, ack: &Ack) -> Change {
            self.0.on_ack(view, ack)
        }
        fn ssthresh(&mut self, view: &View) -> u32 {
            (view.snd_cwnd * 3 / 4).max(2)
        }
    }
    for (name, of) in ALL {
        let text = text(of, 1);
        let own = run(&text, None);
        let other = run(&text, Some(maker(|| Box::<Gentle>::default())));
        assert!(own != other, "{name}");
    }
}

/// Each connection has an algorithm of its own, made once.
#[test]
fn each_connection_gets_its_own() {
    let made = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&made);
    let counting = maker(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Box::<Reno>::default()
    });
    run(&text(LOSS, 1), Some(counting));
    assert_eq!(
        made.load(Ordering::Relaxed),
        10,
        "five connections, two ends"
    );
}

/// One that sets window and rate by itself is asked at each ACK, and what it says holds.
#[test]
fn one_that_controls_the_window_paces() {
    #[derive(Debug)]
    struct Fixed;
    impl Algorithm for Fixed {
        fn on_ack(&mut self, view: &View, ack: &Ack) -> Change {
            assert!(ack.acked > 0 || ack.losses > 0 || view.packets_out > 0);
            Change {
                snd_cwnd: Some(7),
                snd_ssthresh: None,
                pacing_rate: Some(250_000),
            }
        }
        fn ssthresh(&mut self, view: &View) -> u32 {
            view.snd_ssthresh
        }
    }
    let mut run = Run::new(&text(LOSS, 1));
    let fixed = Maker {
        controls_cwnd: true,
        ..maker(|| Box::new(Fixed))
    };
    run.world.set_congestion(0, fixed.clone()).expect("it can");
    assert!(
        run.world
            .run_until(Instant::from_nanos(500_000_000), || true)
    );
    let info = run.world.tcp_info(0, true).expect("a socket");
    let get = |name| info.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    assert_eq!(get("tcpi_snd_cwnd"), Some(7));
    assert_eq!(get("tcpi_pacing_rate"), Some(250_000));
    assert_eq!(run.world.congestion_name(0, true).as_deref(), Some("mine"));
    assert_eq!(run.world.congestion_name(0, false).as_deref(), Some("reno"));
    let late = run.world.set_congestion(1, fixed).expect_err("it runs");
    assert!(late.to_string().contains("has begun"), "{late}");
}

#[test]
fn names_and_hosts_that_cannot_be_are_refused() {
    let mut run = Run::new(&text(LOSS, 1));
    let own = Maker {
        name: "cubic".into(),
        ..maker(|| Box::<Reno>::default())
    };
    let refused = run.world.set_congestion(0, own).expect_err("it is known");
    assert!(refused.to_string().contains("another name"), "{refused}");
    let nowhere = maker(|| Box::<Reno>::default());
    let refused = run.world.set_congestion(2, nowhere).expect_err("two hosts");
    assert!(refused.to_string().contains("0 to 1"), "{refused}");
}

/// Connections that rest stay as they are: 3,000 of them are more than a host keeps unpacked.
#[test]
fn idle_connections_keep_their_algorithm() {
    let text = r#"
[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_congestion_control" = "reno" }

[[host]]
name = "server"
sysctl = { "net.ipv4.tcp_congestion_control" = "reno" }

[[link]]
delay = "5ms"

[[app]]
kind = "echo"
connections = 3000
stagger = "1ms"
count = 2
pause = "6s"
size = "20 kB"
"#;
    let own = run(text, None);
    let outside = run(text, Some(maker(|| Box::<Reno>::default())));
    assert!(own == outside);
    assert_eq!(count(&own, "TcpActiveOpens"), 3000);
}
