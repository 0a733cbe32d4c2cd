//! Fast Open at a server: cookies, children that are accepted before their handshake is over.

use tcplab_base::{Instant, Seq};
use tcplab_tcp::{
    Addr, ConnId, FastOpenKey, FastOpenKeys, ListenId, ReadOutcome, Segment, SocketError, Stack,
    State,
};
use tcplab_wire::{FastOpen, TcpFlags, TcpOptions};

use crate::alone::Alone;
use crate::link::{MS, S, SERVER, host, words};

const CLIENT: Addr = Addr {
    host: 0,
    port: 40_000,
};
const ISN: Seq = Seq(1_000_000);

/// A server alone; the test is the network.
struct Server {
    host: Alone,
    listener: ListenId,
}

impl std::ops::Deref for Server {
    type Target = Alone;

    fn deref(&self) -> &Alone {
        &self.host
    }
}

impl std::ops::DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Alone {
        &mut self.host
    }
}

impl Server {
    /// `bits`: net.ipv4.tcp_fastopen; `most`: TCP_FASTOPEN.
    fn new(bits: &str, most: u32) -> Self {
        let mut stack = Stack::new(host(5));
        stack.set_sysctl("net.ipv4.tcp_fastopen", bits).unwrap();
        let now = Instant::from_nanos(0);
        let socket = stack.socket(now, 1, &Default::default());
        let listener = stack.listen_socket(SERVER, socket, 16, 1500);
        if most > 0 {
            stack.set_fast_open(listener, most);
        }
        Self {
            host: Alone { stack, now },
            listener,
        }
    }

    fn accept(&mut self) -> Option<ConnId> {
        let host = &mut self.host;
        host.stack.accept(host.now, self.listener).map(|(id, _)| id)
    }

    fn state(&mut self, id: ConnId) -> State {
        self.with(id, |ep, _| ep.state())
    }

    /// The cookie of a client that asks for one.
    fn cookie(&mut self) -> FastOpen {
        let out = self.put(syn(50_000, 0, Some(FastOpen::request(false))));
        self.put(ack(50_000, &out[0], TcpFlags::RST));
        out[0].options.fast_open().expect("a cookie")
    }

    /// A child with `len` bytes in its SYN, accepted; and the SYN-ACK.
    fn child(&mut self, len: u32) -> (ConnId, Segment) {
        let cookie = self.cookie();
        let out = self.put(syn(CLIENT.port, len, Some(cookie)));
        assert_eq!(out.len(), 1);
        (self.accept().expect("accepted at once"), out[0])
    }
}

fn syn(port: u16, len: u32, option: Option<FastOpen>) -> Segment {
    let mut options = TcpOptions {
        mss: Some(1460),
        sack_permitted: true,
        ..TcpOptions::default()
    };
    options.set_fast_open(option);
    Segment {
        src: Addr { port, ..CLIENT },
        dst: SERVER,
        seq: ISN,
        len,
        window: 32_000,
        flags: TcpFlags(TcpFlags::SYN),
        options,
        ..Segment::default()
    }
}

/// The answer to a SYN-ACK.
fn ack(port: u16, syn_ack: &Segment, more: u16) -> Segment {
    Segment {
        src: Addr { port, ..CLIENT },
        dst: SERVER,
        seq: syn_ack.ack,
        ack: syn_ack.seq + 1,
        window: 32_000,
        flags: TcpFlags(TcpFlags::ACK | more),
        ..Segment::default()
    }
}

/// What a SYN of 100 bytes gets, by sysctl, queue and option.
#[test]
fn cookies_and_data_follow_the_sysctl_table() {
    let good = FastOpenKey([1, 2]);
    let src = [10, 77, 0, 1].into();
    let dst = [10, 77, 0, 2].into();
    let cookie = |experimental| good.cookie(src, dst, experimental);
    let bad = FastOpen::cookie(&[7; 8], false);
    let request = Some(FastOpen::request(true));
    #[rustfmt::skip]
    let table = [
        // tcp_fastopen, TCP_FASTOPEN, option: bytes taken, cookie in the SYN-ACK
        ("0x2",   4, cookie(false), 100, None),
        ("0x2",   4, cookie(true),  100, None),
        ("0x2",   4, bad,             0, cookie(false)),
        ("0x2",   4, request,         0, cookie(true)),
        ("0x2",   4, None,            0, None),
        ("0x2",   0, cookie(false),   0, None),
        ("0x2",   0, request,         0, None),
        ("0x402", 0, cookie(false), 100, None),
        ("0x402", 0, request,         0, cookie(true)),
        ("0x400", 0, cookie(false),   0, None),
        ("0x1",   4, cookie(false),   0, None),
        ("0x202", 4, None,          100, None),
        ("0x202", 4, bad,           100, None),
        ("0x202", 4, request,       100, None),
        ("0x202", 0, None,            0, None),
        ("0x602", 0, None,          100, None),
    ];
    for (n, (bits, most, option, taken, answer)) in table.into_iter().enumerate() {
        let mut server = Server::new(bits, most);
        let keys = FastOpenKeys {
            primary: good,
            backup: None,
        };
        server
            .host
            .stack
            .set_fast_open_keys(server.listener, Some(keys));
        let out = server.put(syn(CLIENT.port, 100, option));
        assert_eq!(out.len(), 1, "{n}");
        assert_eq!(out[0].ack, ISN + (1 + taken), "{n}");
        assert_eq!(out[0].options.fast_open(), answer, "{n}");
        assert_eq!(server.accept().is_some(), taken > 0, "{n}");
    }
}

#[test]
fn data_of_the_syn_are_read_and_answered_before_the_handshake_is_over() {
    let mut server = Server::new("0x3", 4);
    let (id, syn_ack) = server.child(300);
    assert_eq!((words(&syn_ack).as_str(), syn_ack.ack), ("S.", ISN + 301));
    assert_eq!(server.state(id), State::SynRecv);
    assert!(server.with(id, |ep, _| ep.is_passive_fast_open()));
    assert_eq!(
        server.with(id, |ep, cx| ep.read(cx, 1000)),
        ReadOutcome::Got(300)
    );
    assert_eq!(server.info(id, "tcpi_options") & 32, 32);
    assert_eq!(
        server.with(id, |ep, cx| ep.write(cx, 3000, false)),
        Ok(3000)
    );
    let out = server.out();
    assert_eq!(out.iter().map(|s| s.len).sum::<u32>(), 3000);
    // The data are not sent again before the SYN-ACK is ACKed, only the SYN-ACK is.
    let again = server.run(2 * S);
    assert_eq!(again.iter().map(words).collect::<Vec<_>>(), ["S."]);
    assert_eq!(again[0].ack, ISN + 301);
    let last = out.last().unwrap();
    let mut seg = ack(CLIENT.port, &syn_ack, 0);
    seg.ack = last.end_seq();
    server.put(seg);
    assert_eq!(server.state(id), State::Established);
    assert_eq!(server.run(60 * S), []);
    assert_eq!(server.count("TcpExtTCPFastOpenPassive"), 1);
    assert_eq!(server.count("TcpExtTCPFastOpenCookieReqd"), 1);
}

#[test]
fn data_lost_meanwhile_is_watched_once_it_stands() {
    let mut server = Server::new("0x3", 4);
    let (id, syn_ack) = server.child(1);
    assert!(server.with(id, |ep, cx| ep.write(cx, 100, false)).is_ok());
    assert_eq!(server.out().len(), 1);
    server.run(10 * MS);
    server.put(ack(CLIENT.port, &syn_ack, 0));
    assert_eq!(server.state(id), State::Established);
    let again = server.run(S);
    assert!(again.iter().all(|s| s.len == 100) && !again.is_empty());
}

/// 1, 3, 7, 15, 31 and 63 s: one more than other SYN-ACKs, and the end at 127 s.
#[test]
fn a_syn_ack_is_sent_again_and_given_up() {
    let mut server = Server::new("0x3", 4);
    let (id, _) = server.child(10);
    let mut times = Vec::new();
    for second in 1..200 {
        let out = server.run(S);
        assert!(out.iter().all(|seg| words(seg) == "S."));
        if !out.is_empty() {
            times.push(second);
        }
    }
    assert_eq!(times, [2, 4, 8, 16, 32, 64]);
    assert_eq!(server.state(id), State::Close);
    assert_eq!(
        server.with(id, |ep, _| ep.take_error()),
        Some(SocketError::TimedOut)
    );
}

#[test]
fn a_syn_that_comes_again_gets_its_syn_ack_again() {
    let mut server = Server::new("0x3", 4);
    let (id, first) = server.child(10);
    let cookie = server.cookie();
    let again = server.put(syn(CLIENT.port, 10, Some(cookie)));
    assert_eq!(again.len(), 1);
    assert_eq!(
        (again[0].seq, again[0].ack, again[0].options.fast_open()),
        (first.seq, first.ack, None)
    );
    assert_eq!(server.info(id, "tcpi_total_retrans"), 1);
    // A segment before the window is answered with an ACK.
    let mut old = ack(CLIENT.port, &first, 0);
    old.seq = ISN - 5000;
    server.run(S - 1);
    let out = server.put(old);
    assert_eq!(out.iter().map(words).collect::<Vec<_>>(), ["."]);
    assert_eq!(server.state(id), State::SynRecv);
}

#[test]
fn a_reset_leaves_what_came_with_the_syn() {
    for accepted in [false, true] {
        let mut server = Server::new("0x3", 4);
        let cookie = server.cookie();
        let out = server.put(syn(CLIENT.port, 10, Some(cookie)));
        let before = if accepted { server.accept() } else { None };
        let mut rst = ack(CLIENT.port, &out[0], TcpFlags::RST);
        rst.seq = rst.seq + 1;
        let challenge = server.put(rst);
        assert_eq!(challenge.len(), 1, "not at rcv_nxt");
        assert_eq!(server.put(ack(CLIENT.port, &out[0], TcpFlags::RST)), []);
        let id = before.or_else(|| server.accept()).expect("it is accepted");
        assert_eq!(server.state(id), State::Close);
        assert_eq!(
            server.with(id, |ep, cx| ep.read(cx, 100)),
            ReadOutcome::Got(10)
        );
        assert_eq!(
            server.with(id, |ep, cx| ep.read(cx, 100)),
            ReadOutcome::Failed(SocketError::ConnReset)
        );
    }
}

#[test]
fn children_that_were_reset_count_for_a_minute() {
    let mut server = Server::new("0x3", 1);
    let (id, syn_ack) = server.child(10);
    let cookie = server.cookie_of(syn_ack);
    let other = |server: &mut Server, port| {
        let out = server.put(syn(port, 10, Some(cookie)));
        out[0].ack == ISN + 11
    };
    assert!(!other(&mut server, 40_002), "one waits");
    assert_eq!(server.count("TcpExtTCPFastOpenListenOverflow"), 1);
    server.put(ack(CLIENT.port, &syn_ack, TcpFlags::RST));
    assert_eq!(server.state(id), State::Close);
    assert!(!other(&mut server, 40_004), "it was reset just now");
    server.run(61 * S);
    assert!(other(&mut server, 40_006));
}

impl Server {
    /// A cookie, asked for with the queue full: made from the address alone.
    fn cookie_of(&self, syn_ack: Segment) -> FastOpen {
        let mut other = Self::new("0x3", 4);
        assert_eq!(other.stack.host.secret, self.stack.host.secret);
        assert_eq!(syn_ack.src, SERVER);
        other.cookie()
    }
}

#[test]
fn a_handshake_that_ends_makes_room() {
    let mut server = Server::new("0x3", 1);
    let (_, syn_ack) = server.child(10);
    server.put(ack(CLIENT.port, &syn_ack, 0));
    let cookie = server.cookie();
    let out = server.put(syn(40_002, 10, Some(cookie)));
    assert_eq!(out[0].ack, ISN + 11);
}

#[test]
fn an_old_key_is_good_and_gives_a_new_cookie() {
    let (old, new) = (FastOpenKey([1, 2]), FastOpenKey([3, 4]));
    let mut server = Server::new("0x2", 4);
    let mut with_keys = |primary, backup| {
        let keys = FastOpenKeys { primary, backup };
        server
            .host
            .stack
            .set_fast_open_keys(server.listener, Some(keys));
        let asked = server.put(syn(CLIENT.port, 0, Some(FastOpen::request(false))));
        server.put(ack(CLIENT.port, &asked[0], TcpFlags::RST));
        asked[0].options.fast_open()
    };
    let cookie = with_keys(old, None);
    let fresh = with_keys(new, Some(old));
    assert_ne!(cookie, fresh);
    let out = server.put(syn(CLIENT.port, 10, cookie));
    assert_eq!(out[0].ack, ISN + 11);
    assert_eq!(out[0].options.fast_open(), fresh);
    assert_eq!(server.count("TcpExtTCPFastOpenPassiveAltKey"), 1);
}

#[test]
fn closing_before_the_handshake_is_over() {
    // With unread data: a reset. Without: a FIN that waits for the ACK of the SYN-ACK to be sent again.
    for read in [false, true] {
        let mut server = Server::new("0x3", 4);
        let (id, syn_ack) = server.child(10);
        if read {
            server.with(id, |ep, cx| ep.read(cx, 100));
        }
        server.host.stack.close(server.host.now, id);
        let out = server.out();
        let expected = if read { "F." } else { "R." };
        assert_eq!(out.iter().map(words).collect::<Vec<_>>(), [expected]);
        if read {
            let again = server.run(2 * S);
            assert_eq!(again.iter().map(words).collect::<Vec<_>>(), ["S."]);
            let mut seg = ack(CLIENT.port, &syn_ack, 0);
            seg.ack = seg.ack + 1;
            assert_eq!(server.put(seg), []);
        }
    }
}

#[test]
fn closing_the_listener_resets_children() {
    let mut server = Server::new("0x3", 4);
    let cookie = server.cookie();
    server.put(syn(CLIENT.port, 10, Some(cookie)));
    server
        .host
        .stack
        .close_listener(server.host.now, server.listener);
    let out = server.out();
    assert_eq!(out.iter().map(words).collect::<Vec<_>>(), ["R."]);
    assert_eq!(server.run(200 * S), []);
}

#[test]
fn a_fin_with_the_ack_of_the_syn_ack() {
    let mut server = Server::new("0x3", 4);
    let (id, syn_ack) = server.child(10);
    assert_eq!(server.put(ack(CLIENT.port, &syn_ack, TcpFlags::FIN)), []);
    let out = server.run(40 * MS);
    assert_eq!(out.iter().map(words).collect::<Vec<_>>(), ["."]);
    assert_eq!(out[0].ack, ISN + 12);
    assert_eq!(server.state(id), State::CloseWait);
}
