//! Fast Open at a client: cookies that are remembered, SYNs with data, answers of all kinds.

use tcplab_base::{Instant, Seq};
use tcplab_tcp::{Addr, ConnId, ReadOutcome, Segment, SocketError, Stack, State};
use tcplab_wire::{FastOpen, TcpFlags, TcpOptions};

use crate::alone::Alone;
use crate::link::{MS, S, SERVER, host, words};

/// A client alone; the test is the network and the server.
struct Client {
    host: Alone,
}

/// How a SYN-ACK differs from one that takes all and says nothing.
#[derive(Clone, Copy)]
struct SynAck {
    /// Bytes of the SYN's data that it takes.
    takes: u32,
    /// Its own data.
    brings: u32,
    mss: u16,
    cookie: Option<FastOpen>,
    flags: u16,
}

const ANSWER: SynAck = SynAck {
    takes: 0,
    brings: 0,
    mss: 1460,
    cookie: None,
    flags: 0,
};

impl std::ops::Deref for Client {
    type Target = Alone;

    fn deref(&self) -> &Alone {
        &self.host
    }
}

impl std::ops::DerefMut for Client {
    fn deref_mut(&mut self) -> &mut Alone {
        &mut self.host
    }
}

impl Client {
    fn new() -> Self {
        let mut stack = Stack::new(host(5));
        stack.host.sysctl.tcp_timestamps = 0;
        let now = Instant::from_nanos(S);
        Self {
            host: Alone { stack, now },
        }
    }

    /// One that knows this cookie.
    fn with_cookie(mss: u16) -> Self {
        let mut client = Self::new();
        let (id, copied) = client.send(100);
        assert_eq!(copied, 0);
        let syn = client.out()[0];
        assert_eq!(syn.options.fast_open(), Some(FastOpen::request(false)));
        client.answer(
            &syn,
            SynAck {
                mss,
                cookie: cookie(),
                ..ANSWER
            },
        );
        client.with(id, |ep, _| ep.set_linger(Some(0)));
        client.host.stack.close(client.host.now, id);
        assert_eq!(short(&client.out()), ["R."]);
        client
    }

    /// sendto(MSG_FASTOPEN) of a new socket.
    fn send(&mut self, bytes: u64) -> (ConnId, u64) {
        let id = self.deferred();
        let copied = self.with(id, |ep, cx| ep.connect_with_data(cx, bytes));
        (id, copied)
    }

    fn deferred(&mut self) -> ConnId {
        let socket = self
            .host
            .stack
            .socket(self.host.now, 0, &Default::default());
        let local = Addr { host: 0, port: 0 };
        let now = self.now;
        let opened = self
            .stack
            .connect_deferred(now, socket, local, SERVER, 1500);
        opened.expect("a port is free").0
    }

    /// connect(2) with TCP_FASTOPEN_CONNECT.
    fn connect(&mut self) -> ConnId {
        let mut socket = self
            .host
            .stack
            .socket(self.host.now, 0, &Default::default());
        socket.set_fast_open_connect(true);
        let local = Addr { host: 0, port: 0 };
        let now = self.now;
        let opened = self.stack.connect_socket(now, socket, local, SERVER, 1500);
        opened.expect("a port is free").0
    }

    /// Answers a SYN 10 ms later.
    fn answer(&mut self, syn: &Segment, how: SynAck) -> Vec<Segment> {
        self.run(10 * MS);
        let mut options = TcpOptions {
            mss: Some(how.mss),
            sack_permitted: true,
            ..TcpOptions::default()
        };
        options.set_fast_open(how.cookie);
        self.put(Segment {
            src: syn.dst,
            dst: syn.src,
            seq: Seq(77),
            ack: syn.seq + (1 + how.takes),
            len: how.brings,
            window: 60_000,
            flags: TcpFlags(TcpFlags::SYN | TcpFlags::ACK | how.flags),
            options,
            ..Segment::default()
        })
    }
}

fn cookie() -> Option<FastOpen> {
    FastOpen::cookie(&[1, 2, 3, 4, 5, 6, 7, 8], false)
}

fn short(segments: &[Segment]) -> Vec<String> {
    segments.iter().map(words).collect()
}

#[test]
fn a_cookie_is_asked_for_and_used() {
    let mut client = Client::with_cookie(1460);
    let (id, copied) = client.send(1000);
    assert_eq!(copied, 1000);
    let out = client.out();
    assert_eq!(short(&out), ["S1000"]);
    assert_eq!(out[0].options.fast_open(), cookie());
    let out = client.answer(
        &out[0],
        SynAck {
            takes: 1000,
            ..ANSWER
        },
    );
    assert_eq!(short(&out), ["."]);
    assert_eq!(client.info(id, "tcpi_options") & 32, 32);
    assert_eq!(client.info(id, "tcpi_delivered"), 1);
    assert_eq!(client.info(id, "tcpi_rtt"), 10_000);
    assert_eq!(client.count("TcpExtTCPFastOpenActive"), 1);
    assert_eq!(client.run(60 * S), []);
}

/// Bytes that go with the SYN: the server's MSS less room for 40 bytes of options.
#[test]
fn how_much_goes_with_the_syn() {
    for (mss, wanted, goes) in [
        (1460, 5000, 1420),
        (1000, 5000, 960),
        (1460, 7, 7),
        (1460, 0, 0),
        (9000, 5000, 1420),
    ] {
        let mut client = Client::with_cookie(mss);
        let (_, copied) = client.send(wanted);
        assert_eq!(copied, goes, "{mss} {wanted}");
        let out = client.out();
        assert_eq!(u64::from(out[0].len), goes);
        assert_eq!(out[0].options.fast_open(), cookie());
        let out = client.answer(
            &out[0],
            SynAck {
                takes: goes as u32,
                ..ANSWER
            },
        );
        assert_eq!(short(&out), ["."], "{mss} {wanted}");
    }
}

#[test]
fn refused_data_is_resent_at_once() {
    for (takes, rest) in [(0, "P.1000"), (400, "P.600")] {
        let mut client = Client::with_cookie(1460);
        let (id, _) = client.send(1000);
        let syn = client.out()[0];
        let out = client.answer(&syn, SynAck { takes, ..ANSWER });
        assert_eq!(short(&out), [rest]);
        assert_eq!(client.info(id, "tcpi_options") & 32, 0);
        assert_eq!(client.info(id, "tcpi_fastopen_client_fail"), 2);
        assert_eq!(client.count("TcpExtTCPFastOpenActiveFail"), 1);
    }
}

#[test]
fn a_lost_syn_is_sent_again_alone() {
    let mut client = Client::with_cookie(1460);
    let (id, _) = client.send(1000);
    let syn = client.out()[0];
    let again = client.run(S + 50 * MS);
    assert_eq!(short(&again), ["S"]);
    assert_eq!(again[0].options.fast_open(), None);
    let out = client.answer(&syn, ANSWER);
    assert_eq!(short(&out), ["P.1000"]);
    assert_eq!(client.info(id, "tcpi_fastopen_client_fail"), 3);
}

#[test]
fn a_syn_ack_brings_data_and_a_fin() {
    let mut client = Client::with_cookie(1460);
    let (id, _) = client.send(100);
    let syn = client.out()[0];
    let how = SynAck {
        takes: 100,
        brings: 1400,
        flags: TcpFlags::FIN,
        ..ANSWER
    };
    let out = client.answer(&syn, how);
    assert_eq!(out, []);
    assert_eq!(client.with(id, |ep, _| ep.state()), State::CloseWait);
    assert_eq!(
        client.with(id, |ep, cx| ep.read(cx, 2000)),
        ReadOutcome::Got(1400)
    );
    assert_eq!(
        client.with(id, |ep, cx| ep.read(cx, 2000)),
        ReadOutcome::End
    );
    let out = client.out();
    assert_eq!(short(&out), ["."]);
    assert_eq!(out[0].ack, Seq(77 + 1402));
}

#[test]
fn a_refused_connection_with_data() {
    let mut client = Client::with_cookie(1460);
    let (id, _) = client.send(100);
    let syn = client.out()[0];
    client.put(Segment {
        src: syn.dst,
        dst: syn.src,
        ack: syn.seq + 1,
        flags: TcpFlags(TcpFlags::RST | TcpFlags::ACK),
        ..Segment::default()
    });
    assert_eq!(
        client.with(id, |ep, _| ep.take_error()),
        Some(SocketError::ConnRefused)
    );
}

/// connect(2) of TCP_FASTOPEN_CONNECT waits for data only when there is a cookie.
#[test]
fn a_lazy_connect() {
    let mut client = Client::new();
    let id = client.connect();
    let syn = client.out()[0];
    assert_eq!(syn.options.fast_open(), Some(FastOpen::request(false)));
    assert_eq!(client.info(id, "tcpi_fastopen_client_fail"), 1);
    client.answer(
        &syn,
        SynAck {
            cookie: cookie(),
            ..ANSWER
        },
    );
    assert_eq!(client.with(id, |ep, _| ep.state()), State::Established);

    let id = client.connect();
    assert_eq!(client.out(), []);
    assert!(client.with(id, |ep, _| ep.is_deferred()));
    assert_eq!(client.run(100 * S), []);
    let copied = client.with(id, |ep, cx| ep.connect_with_data(cx, 5000));
    assert_eq!(copied, 1420);
    assert_eq!(short(&client.out()), ["S1420"]);

    let id = client.connect();
    client.host.stack.close(client.host.now, id);
    assert_eq!(client.out(), []);

    // A write that brings nothing asks for a cookie again.
    let id = client.connect();
    client.with(id, |ep, cx| ep.connect_without_data(cx));
    let syn = client.out()[0];
    assert_eq!(
        (syn.len, syn.options.fast_open()),
        (0, Some(FastOpen::request(false)))
    );
}

/// Servers without Fast Open are asked once with each kind of the option.
#[test]
fn the_experimental_kind_is_tried_once() {
    let mut client = Client::new();
    let mut kinds = Vec::new();
    for _ in 0..4 {
        client.send(100);
        let syn = client.out()[0];
        kinds.push(syn.options.fast_open().map(|o| o.is_experimental()));
        client.answer(&syn, ANSWER);
    }
    assert_eq!(kinds, [Some(false), Some(true), Some(false), Some(false)]);
    client.stack.forget_peers();
    client.send(100);
    let syn = client.out()[0];
    client.answer(&syn, ANSWER);
    client.send(100);
    let kind = client.out()[0].options.fast_open();
    assert_eq!(kind, Some(FastOpen::request(true)));
}

/// What the bits of net.ipv4.tcp_fastopen and TCP_FASTOPEN_NO_COOKIE make of a SYN.
#[test]
fn without_a_cookie() {
    for (bits, own, len) in [("1", false, 0), ("5", false, 100), ("1", true, 100)] {
        let mut client = Client::new();
        client
            .stack
            .set_sysctl("net.ipv4.tcp_fastopen", bits)
            .unwrap();
        let id = client.deferred();
        client.with(id, |ep, cx| {
            ep.set_fast_open_no_cookie(own);
            ep.connect_with_data(cx, 100)
        });
        let syn = client.out()[0];
        assert_eq!(syn.len, len);
        assert_eq!(syn.options.fast_open().is_some(), len == 0);
        // A cookie that nobody asked for is not kept.
        client.answer(
            &syn,
            SynAck {
                takes: len,
                cookie: cookie(),
                ..ANSWER
            },
        );
        client
            .stack
            .set_sysctl("net.ipv4.tcp_fastopen", "1")
            .unwrap();
        client.send(100);
        let next = client.out()[0].options.fast_open();
        assert_eq!(next == cookie(), len == 0);
    }
}

#[test]
fn a_black_hole_stops_it_for_an_hour_then_two() {
    let mut client = Client::with_cookie(1460);
    let sysctl = "net.ipv4.tcp_fastopen_blackhole_timeout_sec";
    client.stack.set_sysctl(sysctl, "3600").unwrap();
    let mut lost = |hours: i64| {
        let (id, copied) = client.send(100);
        assert_eq!(copied, 100);
        client.run(100 * S);
        client.host.stack.close(client.host.now, id);
        let (_, copied) = client.send(100);
        let syn = client.out().into_iter().rfind(|s| words(s) == "S");
        assert_eq!((copied, syn.unwrap().options.fast_open()), (0, None));
        client.run(hours * 3600 * S);
    };
    lost(1);
    lost(2);
    assert_eq!(client.count("TcpExtTCPFastOpenBlackhole"), 2);
    // The next try gets data: all is well again.
    let (id, copied) = client.send(100);
    assert_eq!(copied, 100);
    let syn = client.out().into_iter().rfind(|s| s.len == 100).unwrap();
    client.answer(
        &syn,
        SynAck {
            takes: 100,
            brings: 50,
            ..ANSWER
        },
    );
    client.host.stack.close(client.host.now, id);
    client
        .stack
        .set_sysctl("net.ipv4.tcp_fastopen", "1")
        .unwrap();
    assert_eq!(client.send(100).1, 100);
}

#[test]
fn crossed_syns_with_data_open_a_connection() {
    let mut client = Client::with_cookie(1460);
    let (id, _) = client.send(1000);
    let syn = client.out()[0];
    let crossed = Segment {
        src: syn.dst,
        dst: syn.src,
        seq: Seq(500),
        len: 300,
        window: 10_000,
        flags: TcpFlags(TcpFlags::SYN),
        ..Segment::default()
    };
    let out = client.put(crossed);
    assert_eq!(short(&out), ["S."]);
    assert_eq!((out[0].seq, out[0].ack), (syn.seq, Seq(501)));
    assert_eq!(out[0].options.fast_open(), None);
    let out = client.put(Segment {
        len: 0,
        ack: syn.end_seq(),
        flags: TcpFlags(TcpFlags::SYN | TcpFlags::ACK),
        ..crossed
    });
    assert_eq!(short(&out), ["."]);
    assert_eq!(client.with(id, |ep, _| ep.state()), State::Established);
}

/// Who waits for the connection to write more sends the ACK with these data.
#[test]
fn a_waiting_writer_saves_an_ack() {
    let mut client = Client::with_cookie(1460);
    let (id, copied) = client.send(2000);
    client.with(id, |ep, _| ep.set_write_pending(true));
    let syn = client.out()[0];
    let out = client.answer(
        &syn,
        SynAck {
            takes: copied as u32,
            ..ANSWER
        },
    );
    assert_eq!(out, []);
    client
        .with(id, |ep, cx| {
            ep.set_write_pending(false);
            ep.write(cx, 2000 - copied, false)
        })
        .unwrap();
    assert_eq!(short(&client.out()), ["P.580"]);
}
