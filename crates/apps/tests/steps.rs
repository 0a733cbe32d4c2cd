//! Each application as its driver sees it: the steps of both ends, in a tiny world where every
//! step takes no time but [`Step::Until`].

use tcplab_apps::{Message, Ping, Program, Result, Step};
use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{AppKind, Extent, Reading};

fn count(n: u64) -> Extent {
    Extent {
        count: Some(n),
        duration_ns: None,
    }
}

/// Steps of one end until it closes (at most 40), each as text; sleeps move the clock.
fn steps(program: &mut Program, mut answers: impl FnMut(Step) -> Result) -> Vec<String> {
    let mut now = 0;
    let mut last = Result::Done;
    let mut out = Vec::new();
    program.connects(Instant::from_nanos(now));
    while out.len() < 40 {
        let step = program.next(Instant::from_nanos(now), last);
        last = answers(step);
        match step {
            Step::Until(at) => {
                assert!(at.as_nanos() > now, "sleeps into the past");
                now = at.as_nanos();
                out.push(format!("t={now}"));
            }
            Step::Close => {
                out.push("close".into());
                break;
            }
            Step::Send(message) => out.push(format!("Send({})", message.size)),
            step => out.push(format!("{step:?}")),
        }
    }
    out
}

fn done(_: Step) -> Result {
    Result::Done
}

#[test]
fn a_stream_writes_on_an_absolute_schedule() {
    let app = AppKind::Stream {
        chunk: 1000,
        every_ns: 100,
        late_ns: 0,
        urgent: 0,
        more: 0,
        read: 4096,
        until: count(3),
    };
    let mut server = Program::server(&app, &Reading::default());
    let seen = steps(&mut server, done);
    assert_eq!(
        seen,
        [
            "Write(1000)",
            "t=100",
            "Write(1000)",
            "t=200",
            "Write(1000)",
            "t=300",
            "close"
        ]
    );
    assert_eq!(server.record().completed(), 3);
    let ends = |_| Result::End;
    assert_eq!(
        steps(&mut Program::client(&app, &Reading::default()), ends),
        ["ReadSome(4096)", "close"]
    );
}

#[test]
fn each_nth_write_of_a_stream_is_urgent() {
    let app = AppKind::Stream {
        chunk: 10,
        every_ns: 0,
        late_ns: 0,
        urgent: 2,
        more: 0,
        read: 4096,
        until: count(4),
    };
    let seen = steps(&mut Program::server(&app, &Reading::default()), done);
    assert_eq!(
        seen,
        [
            "Write(10)",
            "WriteWith(Urgent, 10)",
            "Write(10)",
            "WriteWith(Urgent, 10)",
            "close"
        ]
    );
}

#[test]
fn all_but_the_last_of_n_writes_announce_more() {
    let app = |urgent| AppKind::Stream {
        chunk: 10,
        every_ns: 0,
        late_ns: 0,
        urgent,
        more: 3,
        read: 4096,
        until: count(4),
    };
    let seen = |urgent| {
        steps(
            &mut Program::server(&app(urgent), &Reading::default()),
            done,
        )
    };
    let more = "WriteWith(More, 10)";
    assert_eq!(seen(0), [more, more, "Write(10)", more, "close"]);
    let urgent = "WriteWith(Urgent, 10)";
    assert_eq!(seen(2), [more, urgent, "Write(10)", urgent, "close"]);
}

#[test]
fn timed_stream_writes_at_its_start_not_at_its_end() {
    let app = AppKind::Stream {
        chunk: 1,
        every_ns: 10,
        late_ns: 0,
        urgent: 0,
        more: 0,
        read: 1,
        until: Extent {
            count: None,
            duration_ns: Some(100),
        },
    };
    let seen = steps(&mut Program::server(&app, &Reading::default()), done);
    assert_eq!(seen.iter().filter(|s| *s == "Write(1)").count(), 10);
}

#[test]
fn a_late_write_does_not_move_the_next_ones() {
    let app = AppKind::Stream {
        chunk: 1,
        every_ns: 100,
        late_ns: 0,
        urgent: 0,
        more: 0,
        read: 1,
        until: count(3),
    };
    let mut server = Program::server(&app, &Reading::default());
    let at = Instant::from_nanos;
    assert_eq!(server.next(at(0), Result::Done), Step::Write(1));
    // The write took 250: the one of t=100 is late, the one of t=200 too.
    assert_eq!(server.next(at(250), Result::Done), Step::Write(1));
    assert_eq!(server.next(at(250), Result::Done), Step::Write(1));
    assert_eq!(server.next(at(250), Result::Done), Step::Until(at(300)));
}

#[test]
fn two_writes_then_a_read() {
    let app = AppKind::WriteWriteRead {
        head: 512,
        body: 300,
        reply: 1448,
        pause_ns: 7,
        until: count(2),
    };
    let once = ["Write(512)", "Write(300)", "Read(1448)"];
    let mut client = Program::client(&app, &Reading::default());
    let seen = steps(&mut client, done);
    assert_eq!(seen[..3], once);
    assert_eq!(seen[3], "t=7");
    assert_eq!(seen[4..7], once);
    assert_eq!(seen[7..], ["t=14", "close"]);
    assert_eq!(client.record().latencies().len(), 2);
    let mut server = Program::server(&app, &Reading::default());
    let at = Instant::from_nanos(0);
    assert_eq!(server.next(at, Result::Done), Step::Read(812));
    assert_eq!(server.next(at, Result::Done), Step::Write(1448));
    assert_eq!(server.next(at, Result::Done), Step::Read(812));
    assert_eq!(server.next(at, Result::End), Step::Close);
}

#[test]
fn a_connection_for_each_transaction_counts_its_handshake() {
    let app = AppKind::ConnectRequestResponse {
        request: 1,
        response: 2,
        pause_ns: 0,
        until: count(2),
    };
    let mut client = Program::client(&app, &Reading::default());
    let at = Instant::from_nanos;
    client.connects(at(0));
    assert_eq!(client.next(at(50), Result::Done), Step::Write(1));
    assert_eq!(client.next(at(50), Result::Done), Step::Read(2));
    assert_eq!(client.next(at(100), Result::Done), Step::Reconnect);
    client.connects(at(100));
    assert_eq!(client.next(at(150), Result::Done), Step::Write(1));
    assert_eq!(client.next(at(150), Result::Done), Step::Read(2));
    assert_eq!(client.next(at(210), Result::Done), Step::Close);
    let took: Vec<i64> = client
        .record()
        .latencies()
        .iter()
        .map(|d| d.as_nanos())
        .collect();
    assert_eq!(took, [100, 110]);
}

#[test]
fn bulk_ends_with_the_peer_s_end() {
    let app = AppKind::Bulk {
        bytes: Some(2500),
        duration_ns: None,
        chunk: 1000,
        reverse: false,
    };
    let ends_at_read = |step| match step {
        Step::ReadSome(_) => Result::End,
        _ => Result::Done,
    };
    let mut client = Program::client(&app, &Reading::default());
    assert_eq!(
        steps(&mut client, ends_at_read),
        [
            "Write(1000)",
            "Write(1000)",
            "Write(500)",
            "Shutdown",
            "ReadSome(4096)",
            "close"
        ]
    );
    assert_eq!(client.record().latencies().len(), 1);
}

#[test]
fn web_thinks_between_pages() {
    let app = AppKind::Web {
        request: 300,
        sizes: vec![1000, 2000],
        think_ns: vec![5],
    };
    let seen = steps(&mut Program::client(&app, &Reading::default()), done);
    assert_eq!(
        seen,
        [
            "Write(300)",
            "Read(1000)",
            "t=5",
            "Write(300)",
            "Read(2000)",
            "close"
        ]
    );
    let ends_at_last = |step| match step {
        Step::ReadSome(_) => Result::End,
        _ => Result::Done,
    };
    assert_eq!(
        steps(
            &mut Program::server(&app, &Reading::default()),
            ends_at_last
        ),
        [
            "Read(300)",
            "Write(1000)",
            "Read(300)",
            "Write(2000)",
            "ReadSome(4096)",
            "close"
        ]
    );
}

#[test]
fn datagrams_keep_their_schedule_and_give_up_on_lost_answers() {
    let stream = AppKind::UdpStream {
        size: 100,
        every_ns: 10,
        until: count(2),
    };
    assert_eq!(
        steps(&mut Program::client(&stream, &Reading::default()), done),
        ["Send(100)", "t=10", "Send(100)", "t=20", "close"]
    );
    let rr = AppKind::UdpRr {
        request: 1,
        response: 2,
        pause_ns: 0,
        timeout_ns: 1000,
        until: count(2),
    };
    let lost = |step| match step {
        Step::Receive(_) => Result::TimedOut,
        _ => Result::Done,
    };
    let mut client = Program::client(&rr, &Reading::default());
    assert_eq!(steps(&mut client, lost).len(), 5);
    assert_eq!((client.record().completed(), client.lost()), (0, 2));
    let message = |size| Message { size, number: 0 };
    let mut number = 0;
    let got = |step| match step {
        Step::Send(message) => {
            number = message.number;
            Result::Done
        }
        Step::Receive(_) => Result::Message(Message { size: 2, number }),
        _ => Result::Done,
    };
    let mut client = Program::client(&rr, &Reading::default());
    steps(&mut client, got);
    assert_eq!((client.record().completed(), client.lost()), (2, 0));
    // The answer to a transaction that was given up is not the next one's.
    let wide = AppKind::UdpRr {
        request: 100,
        response: 100,
        pause_ns: 0,
        timeout_ns: 1000,
        until: count(2),
    };
    let mut client = Program::client(&wide, &Reading::default());
    let at = Instant::from_nanos;
    let send = |number| Step::Send(Message { size: 100, number });
    let answer = |number| Result::Message(Message { size: 100, number });
    for (now, last, step) in [
        (0, Result::Done, send(1)),
        (0, Result::Done, Step::Receive(Some(at(1_000)))),
        (1_000, Result::TimedOut, send(2)),
        (1_000, Result::Done, Step::Receive(Some(at(2_000)))),
        (1_010, answer(1), Step::Receive(Some(at(2_000)))),
        (1_200, answer(2), Step::Close),
    ] {
        assert_eq!(client.next(at(now), last), step, "at {now}");
    }
    assert_eq!(client.record().completed(), 1);
    let mut server = Program::server(&rr, &Reading::default());
    let at = Instant::from_nanos(0);
    assert_eq!(server.next(at, Result::Done), Step::Receive(None));
    assert_eq!(
        server.next(at, Result::Message(message(1))),
        Step::Send(message(2))
    );
    assert_eq!(server.next(at, Result::Done), Step::Receive(None));
}

/// Number 0 is answered after number 1, 2 after its time-out, 1 twice.
#[test]
fn pings_keep_their_schedule_and_are_known_by_their_numbers() {
    let app = AppKind::Ping {
        icmp: false,
        size: 60,
        every_ns: 100,
        timeout_ns: 250,
        until: count(3),
    };
    let at = Instant::from_nanos;
    let send = |number| Step::Send(Message { size: 60, number });
    let answer = |number| Result::Message(Message { size: 60, number });
    let until = |ns| Step::Receive(Some(at(ns)));
    let mut client = Program::client(&app, &Reading::default());
    let script = [
        (1_000, Result::Done, send(0)),
        (1_000, Result::Done, until(1_100)),
        (1_100, Result::TimedOut, send(1)),
        (1_100, Result::Done, until(1_200)),
        (1_150, answer(1), until(1_200)),
        (1_160, answer(1), until(1_200)),
        (1_180, answer(0), until(1_200)),
        (1_200, Result::TimedOut, send(2)),
        (1_200, Result::Done, until(1_450)),
        (1_300, answer(7), until(1_450)),
        // Later than its time-out: lost, even if its answer woke the program.
        (1_451, answer(2), Step::Close),
    ];
    for (now, last, step) in script {
        assert_eq!(client.next(at(now), last), step, "at {now}");
    }
    let ping = |sent, rtt: Option<i64>| Ping {
        sent: at(sent),
        rtt: rtt.map(Duration::from_nanos),
    };
    assert_eq!(
        client.pings(),
        [
            ping(1_000, Some(180)),
            ping(1_100, Some(50)),
            ping(1_200, None)
        ]
    );
    assert_eq!(client.record().completed(), 2);

    let mut server = Program::server(&app, &Reading::default());
    assert_eq!(server.next(at(0), Result::Done), Step::Receive(None));
    assert_eq!(server.next(at(0), answer(5)), send(5));
    assert_eq!(server.next(at(0), Result::Done), Step::Receive(None));
}

/// A stream that cannot keep its schedule, or has no schedule, ends by the clock.
#[test]
fn stream_late_by_over_a_write_ends_with_its_duration() {
    for (every_ns, late, writes) in [(10, 9, true), (10, 11, false), (0, 0, false)] {
        let app = AppKind::Stream {
            chunk: 1,
            every_ns,
            late_ns: 0,
            urgent: 0,
            more: 0,
            read: 1,
            until: Extent {
                count: None,
                duration_ns: Some(100),
            },
        };
        let mut server = Program::server(&app, &Reading::default());
        let at = Instant::from_nanos;
        assert_eq!(server.next(at(0), Result::Done), Step::Write(1));
        // Nine more were due before 100; they are late.
        let step = server.next(at(100 + late), Result::Done);
        assert_eq!(step == Step::Write(1), writes, "{every_ns} {late}");
    }
}

#[test]
fn a_burst_keeps_requests_outstanding_and_times_each_by_its_own() {
    let app = AppKind::RequestResponse {
        request: 10,
        response: 70,
        burst: 2,
        pause_ns: 5,
        until: count(4),
    };
    let mut client = Program::client(&app, &Reading::default());
    let seen = steps(&mut client, done);
    let wanted = [
        "Write(10)",
        "Write(10)",
        "Write(10)",
        "Read(70)",
        "t=5",
        "Write(10)",
        "Read(70)",
        "t=10",
        "Read(70)",
        "t=15",
        "Read(70)",
        "t=20",
        "close",
    ];
    assert_eq!(seen, wanted);
    let took = client.record().latencies().iter();
    let took: Vec<i64> = took.map(|time| time.as_nanos()).collect();
    assert_eq!(took, [0, 5, 10, 10], "the last one was asked for at 5");
}
