//! A run in steps gives the bytes of a run at once, whoever looks between the steps.

use tcplab_base::{Duration, Instant};

use crate::experiments::{ALL, LOSS, text};
use crate::runs::{Came, Run};

const END: Instant = Instant::from_nanos(i64::MAX);

fn at_once(text: &str) -> Came {
    let mut run = Run::new(text);
    assert!(!run.world.run_until(END, || true));
    assert!(run.world.is_over());
    assert_eq!(run.world.exhausted(), None);
    run.came()
}

/// With a look at every end, host and link after each step.
fn in_steps(text: &str, step: Duration) -> Came {
    let mut run = Run::new(text);
    let mut until = Instant::default();
    let mut looked = 0;
    while run.world.run_until(until, || true) {
        assert_eq!(run.world.now(), until);
        for flow in 0..5 {
            for is_client in [true, false] {
                let info = run.world.tcp_info(flow, is_client);
                looked += info.map_or(0, |fields| fields.len());
                run.world.bytes(flow, is_client);
                run.world.congestion_name(flow, is_client);
            }
        }
        assert!(!run.world.counters(0).is_empty());
        assert!(run.world.queue(0, 0).is_some() && run.world.queue(1, 0).is_none());
        until = until + step;
    }
    assert!(looked > 1000, "{looked} fields");
    run.came()
}

#[test]
fn steps_give_the_bytes_of_a_run_at_once() {
    for (name, of) in ALL {
        for seed in 1..4 {
            let text = text(of, seed);
            let once = at_once(&text);
            assert!(once.captures.iter().all(|bytes| bytes.len() > 10_000));
            for step in [Duration::from_millis(1), Duration::from_nanos(37_123_457)] {
                assert!(
                    once == in_steps(&text, step),
                    "{name}, seed {seed}, {step:?}"
                );
            }
        }
    }
}

/// From one event to the next.
#[test]
fn steps_from_event_to_event_give_the_same() {
    let text = text(LOSS, 7);
    let mut run = Run::new(&text);
    let mut steps = 0;
    while let Some(next) = run.world.next_time() {
        steps += 1;
        if !run.world.run_until(next, || true) {
            break;
        }
    }
    assert!(steps > 1000, "{steps} steps");
    assert!(at_once(&text) == run.came());
}

/// `World::run` and `World::run_until` are the same run.
#[test]
fn inspected_run_goes_on_to_its_end() {
    let text = text(LOSS, 3);
    let mut run = Run::new(&text);
    assert!(
        run.world
            .run_until(Instant::from_nanos(50_000_000), || true)
    );
    let captures = run.world.take_captures();
    let outcome = run.world.run(captures, || true).expect("it goes on");
    assert_eq!(outcome, at_once(&text).outcome);
}

/// What a connection, a queue and a host say in the middle of a transfer.
#[test]
fn a_look_says_what_stands() {
    let mut run = Run::new(&text(LOSS, 1));
    let world = &mut run.world;
    assert!(world.tcp_info(0, true).is_none(), "before the SYN");
    assert!(world.run_until(Instant::from_nanos(65_000_000), || true));
    let info = world.tcp_info(0, true).expect("a socket");
    let get = |name| info.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    assert_eq!(get("tcpi_state"), Some(1));
    assert!(get("tcpi_unacked") > Some(0), "{info:?}");
    assert_eq!(world.congestion_name(0, true).as_deref(), Some("reno"));
    let queue = world.queue(0, 0).expect("a link");
    assert!(
        queue.queue_pkts > 0 && queue.queue_bytes > 1000,
        "{queue:?}"
    );
    assert!(world.counters(0).get("TcpActiveOpens") > Some(&0));
    assert!(
        world
            .bytes(0, true)
            .is_some_and(|(read, written)| read == 0 && written > 0)
    );
    assert_eq!(world.bytes(9, true), None);
    assert!(world.tcp_info(9, true).is_none());
}
