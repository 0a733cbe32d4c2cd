//! Calls: arguments, results, errors, what comes back, and blocking.

use super::host::{Host, accepted, settings};
use super::why;
use crate::call::{
    Buffer, Call, Control, ControlData, EpollEvent, ExtendedError, OptValue, Outcome, Output,
    PollFd, SendTo,
};
use crate::run::Verdict;
use crate::target::{IpMode, Made};

const SOCKET: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";

fn done(outcome: Outcome) -> Made {
    Made::Done(outcome)
}

fn with(result: i64, out: Output) -> Made {
    done(Outcome {
        out,
        ..Outcome::ok(result)
    })
}

/// The failure's text of one call after socket(2), or none.
fn verdict(answer: Made, call: &str) -> Option<String> {
    let mut host = Host::new().answers(answer);
    let report = host.run(&format!("{SOCKET}+0 {call}"));
    match report.verdict {
        Verdict::Pass => None,
        Verdict::Fail(failure) => Some(failure.why),
        Verdict::Skip { why, .. } => Some(format!("skip: {why}")),
    }
}

#[test]
fn results_and_errors_are_compared() {
    let answer = || done(Outcome::failed(11));
    let call = "write(3, ..., 10) = ";
    assert_eq!(verdict(answer(), &format!("{call}-1 EAGAIN (again)")), None);
    assert_eq!(verdict(answer(), &format!("{call}-1")), None);
    let why = verdict(answer(), &format!("{call}-1 EINPROGRESS (no)")).unwrap();
    assert!(why.contains("EINPROGRESS"), "{why}");
    let why = verdict(done(Outcome::ok(9)), &format!("{call}10")).unwrap();
    assert_eq!(why, "write() was expected to give 10, and gave 9");
}

#[test]
fn descriptors_are_mapped() {
    let mut host = Host::new()
        .answers(done(Outcome::ok(5)))
        .answers(done(Outcome::ok(0)));
    let report = host.run(&format!(
        "{SOCKET}+0 write(3, ..., 5) = 5\n+0 close(3) = 0\n+0 write(3, ..., 5) = 5"
    ));
    assert_eq!(why(&report).0, 4);
    let write = Call::Send {
        fd: 101,
        buffer: Buffer::Len(5),
        flags: 0,
        to: SendTo::Connected,
    };
    assert_eq!(host.calls[1..], [write, Call::Close { fd: 101 }]);
}

#[test]
fn addresses_are_those_of_the_mode() {
    let table = [
        (IpMode::Ipv4, 2, "192.168.0.1:8080", "192.0.2.1:8080"),
        (
            IpMode::Mapped,
            10,
            "[::ffff:192.168.0.1]:8080",
            "[::ffff:192.0.2.1]:8080",
        ),
        (
            IpMode::Ipv6,
            10,
            "[fd3d:a0b:17d6::1]:8080",
            "[fd3d:fa7b:d17d::1]:8080",
        ),
    ];
    for (mode, domain, local, remote) in table {
        let mut host = Host::new().answers(done(Outcome::ok(0)));
        let text = format!("{SOCKET}+0 bind(3, ..., ...) = 0\n+0 connect(3, ..., ...) = 0");
        let report = host.run_with(&text, &settings(mode));
        assert_eq!(report.verdict, Verdict::Pass);
        assert!(matches!(host.calls[0], Call::Socket { domain: d, .. } if d == domain));
        let addr = local.parse().unwrap();
        assert_eq!(host.calls[1], Call::Bind { fd: 101, addr });
        let to = SendTo::Addr(remote.parse().unwrap());
        assert_eq!(host.calls[2], Call::Connect { fd: 101, to });
    }
}

#[test]
fn options_are_compared() {
    let int = |n| with(0, Output::Opt(OptValue::Int(n)));
    let call = |value: &str, len: u32| format!("getsockopt(3, 6, 2, {value}, [{len}]) = 0");
    assert_eq!(verdict(int(1460), &call("[1460]", 4)), None);
    assert_eq!(verdict(int(-1), &call("[0xffffffff]", 4)), None);
    let why = verdict(int(1460), &call("[1461]", 4)).unwrap();
    assert_eq!(why, "the value was expected to be 1461, and is 1460");
    assert!(verdict(int(1460), &call("[1460]", 8)).is_some());
    let name = || with(0, Output::Opt(OptValue::Bytes(b"reno".to_vec())));
    assert_eq!(verdict(name(), &call("\"reno\"", 4)), None);
    assert!(verdict(name(), &call("\"cubi\"", 4)).is_some());
    assert!(verdict(name(), &call("\"reno\"", 5)).is_some());
}

#[test]
fn poll_and_epoll_are_compared() {
    let poll = "poll([{fd=3, events=1, revents=1}], 1, 100) = 1";
    assert_eq!(verdict(with(1, Output::Poll(vec![1])), poll), None);
    assert!(verdict(with(1, Output::Poll(vec![4])), poll).is_some());
    let mut host = Host::new()
        .answers(with(0, Output::Epoll(vec![])))
        .answers(with(
            1,
            Output::Epoll(vec![EpollEvent {
                events: 4,
                data: 101,
            }]),
        ));
    let report = host.run(&format!(
        "{SOCKET}+0 epoll_create(1) = 5
         +0 epoll_wait(5, {{events=0, ptr=0}}, 1, 0) = 0
         +0 epoll_wait(5, {{events=4, fd=3}}, 1, 0) = 1"
    ));
    assert_eq!(report.verdict, Verdict::Pass);
    let wait = "epoll_wait(5, {events=4, fd=3}, 1, 0) = 1";
    let mut host = Host::new().answers(with(
        1,
        Output::Epoll(vec![EpollEvent {
            events: 5,
            data: 101,
        }]),
    ));
    let report = host.run(&format!("{SOCKET}+0 epoll_create(1) = 5\n+0 {wait}"));
    assert!(why(&report).1.contains("0x4, and are 0x5"));
}

#[test]
fn poll_hands_in_live_descriptors() {
    let mut host = Host::new().answers(with(1, Output::Poll(vec![1])));
    host.run(&format!(
        "{SOCKET}+0 poll([{{fd=3, events=1, revents=1}}], 1, 100) = 1"
    ));
    let fds = vec![PollFd {
        fd: 101,
        events: 1,
        revents: 0,
    }];
    let timeout_ms = 100;
    assert_eq!(host.calls[1], Call::Poll { fds, timeout_ms });
}

/// recvmsg(2) of an error message.
const RECVMSG: &str = "recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=0x2000, \
    msg_control=[{cmsg_level=0, cmsg_type=11, cmsg_data={ee_errno=0, ee_origin=5, ee_type=0, \
    ee_code=1, ee_info=0, ee_data=7}}]}, 0x2000) = 0";

fn error_message(flags: i32, data: u32) -> Made {
    with(
        0,
        Output::Message {
            flags,
            control: vec![Control {
                level: 0,
                kind: 11,
                data: ControlData::Error(ExtendedError {
                    origin: 5,
                    code: 1,
                    data,
                    ..ExtendedError::default()
                }),
            }],
        },
    )
}

#[test]
fn messages_are_compared() {
    assert_eq!(verdict(error_message(0x2000, 7), RECVMSG), None);
    let why = verdict(error_message(0x2000, 8), RECVMSG).unwrap();
    assert_eq!(
        why,
        "control message 1: ee_data was expected to be 7, and is 8"
    );
    assert!(verdict(error_message(0, 7), RECVMSG).is_some());
    let none = with(
        0,
        Output::Message {
            flags: 0x2000,
            control: vec![],
        },
    );
    assert!(verdict(none, RECVMSG).is_some());
}

#[test]
fn time_stamps_of_messages_have_tolerance() {
    let call = "recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=0, \
        msg_control=[{cmsg_level=1, cmsg_type=37, cmsg_data={scm_sec=0,scm_nsec=10000000}}]}, 0) = 0";
    let stamp = |us: i64| {
        let control = Control {
            level: 1,
            kind: 37,
            // The target's clock stood at 5 s when the script began.
            data: ControlData::TimestampNs(5_000_000_000 + us * 1_000),
        };
        let out = Output::Message {
            flags: 0,
            control: vec![control],
        };
        verdict(with(0, out), call)
    };
    assert_eq!(stamp(14_000), None);
    assert_eq!(stamp(6_000), None);
    assert!(stamp(14_001).is_some());
    assert!(stamp(5_999).is_some());
}

#[test]
fn calls_that_block_end_in_time() {
    let run = |us: i64, text: &str| {
        let mut host = Host::new()
            .answers(Made::Blocks(7))
            .returns(us, 7, Outcome::ok(10));
        host.run(&format!("{SOCKET}{text}"))
    };
    let read = "+0 ...0.5 read(3, ..., 10) = 10\n";
    // 12.5 % of 500 ms.
    assert_eq!(run(562_500, read).verdict, Verdict::Pass);
    let report = run(562_501, read);
    assert!(why(&report).1.contains("62501 us late"), "{report:?}");
    assert!(why(&run(400_000, read)).1.contains("early"));
}

#[test]
fn a_call_that_does_not_block_is_told() {
    let mut host = Host::new().answers(done(Outcome::ok(10)));
    let report = host.run(&format!("{SOCKET}+0 ...0.5 read(3, ..., 10) = 10"));
    let text = why(&report).1;
    assert!(text.starts_with("read() did not block"), "{text}");
}

#[test]
fn a_call_that_blocks_at_the_end_is_told() {
    let mut host = Host::new().answers(Made::Blocks(7));
    let report = host.run(&format!("{SOCKET}+0 ...0.5 read(3, ..., 10) = 10"));
    assert_eq!(
        why(&report),
        (2, "the script ends while this call still blocks")
    );
    let mut host = Host::new().answers(Made::Blocks(7));
    let report = host.run(&format!("{SOCKET}+0 read(3, ..., 10) = 10"));
    assert_eq!(why(&report).1, "this call blocks, and nothing ends it");
}

#[test]
fn another_call_waits_for_one_that_blocks() {
    let mut host = Host::new()
        .answers(Made::Blocks(7))
        .answers(done(Outcome::ok(1)))
        .returns(500_000, 7, Outcome::ok(10));
    let report = host.run(&format!(
        "{SOCKET}+0 ...0.5 read(3, ..., 10) = 10\n+.2 write(3, ..., 1) = 1"
    ));
    assert!(
        why(&report)
            .1
            .contains("due at 0.200000, but it is 0.500000")
    );
    let mut host = Host::new().answers(Made::Blocks(7));
    let report = host.run(&format!(
        "{SOCKET}+0 ...5 read(3, ..., 10) = 10\n+.2 ...5 read(3, ..., 1) = 1"
    ));
    assert!(why(&report).1.contains("while another one does"));
}

#[test]
fn accept_blocks_and_gives_the_connection() {
    let mut host = Host::new()
        .answers(Made::Blocks(1))
        .sends(1, "> S. 0:0(0) ack 1 win 5 <mss 1460>")
        .returns(100_000, 1, accepted(150))
        .answers(done(Outcome::ok(3)));
    let report = host.run(&format!(
        "{SOCKET}+0 bind(3, ..., ...) = 0
         +0 listen(3, 1) = 0
         +0 ...0.1 accept(3, ..., ...) = 4
         +0 < S 0:0(0) win 10 <mss 1000>
         +0 > S. 0:0(0) ack 1 win 5 <mss 1460>
         +.1 < . 1:1(0) ack 1 win 10
         +0 write(4, ..., 3) = 3"
    ));
    assert_eq!(report.verdict, Verdict::Pass);
    assert!(matches!(
        host.calls.last(),
        Some(Call::Send { fd: 150, .. })
    ));
}

#[test]
fn what_is_not_supported_is_skipped() {
    let skip = |text: &str| match Host::new().run(text).verdict {
        Verdict::Skip { line, why } => (line, why),
        other => panic!("{other:?}"),
    };
    let (line, why) = skip("0 `touch x`");
    assert_eq!(line, 1);
    assert!(why.contains("touch x"), "{why}");
    assert_eq!(skip(&format!("{SOCKET}+0 cap_set(1, 2, 3) = 0")).0, 2);
}

#[test]
fn hostile_times_end() {
    let mut host = Host::new();
    let report = host.run(&format!("{SOCKET}+999999 close(3) = 0"));
    assert_eq!(why(&report).1, "a script may last 24 hours");
    let report = Host::new().run("1 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3");
    assert_eq!(why(&report).0, 1);
    let report = Host::new().run(&format!("{SOCKET}1 socket(..., 1, 6) = 4\n.5 close(3) = 0"));
    assert_eq!(why(&report).1, "time goes backward here");
}

#[test]
fn code_sees_the_socket_and_what_earlier_code_left() {
    let run = |text: &str| {
        let mut host = Host::new();
        host.info = vec![("tcpi_snd_cwnd", 10)];
        host.run(&format!("{SOCKET}{text}")).verdict
    };
    let two = "+0 %{ before = tcpi_snd_cwnd }%\n+0 %{ assert tcpi_snd_cwnd == before }%";
    assert_eq!(run(two), Verdict::Pass);
    let Verdict::Fail(failure) = run("+0 %{ assert tcpi_snd_cwnd == 11 }%") else {
        panic!("the assert does not hold");
    };
    assert_eq!((failure.line, failure.column), (2, 4));
    let third = run("+0 %{\nx = 1\nassert tcpi_snd_cwnd == 11\n}%");
    assert!(
        matches!(&third, Verdict::Fail(failure) if (failure.line, failure.column) == (4, 1)),
        "{third:?}"
    );
    assert!(
        failure.why.contains("tcpi_snd_cwnd is 10"),
        "{}",
        failure.why
    );
    let skip = run("+0 %{ import os }%");
    assert!(matches!(skip, Verdict::Skip { line: 2, .. }), "{skip:?}");
}

#[test]
fn shell_lines_set_what_the_target_has() {
    let verdict = |text: &str| Host::new().run(&format!("`{text}`\n{SOCKET}")).verdict;
    assert_eq!(verdict("sysctl -q net.ipv4.tcp_sack=0"), Verdict::Pass);
    assert_eq!(verdict("sysctl -n net.ipv4.tcp_sack"), Verdict::Pass);
    let no = verdict("sysctl -q net.ipv4.tcp_nosuch");
    assert!(
        matches!(&no, Verdict::Fail(failure) if failure.why.contains("no `net.ipv4.tcp_nosuch`")),
        "{no:?}"
    );
    let skip = verdict("sysctl -q net.ipv4.tcp_unknown=0");
    let why = "needs sysctl net.ipv4.tcp_unknown".to_string();
    assert_eq!(skip, Verdict::Skip { line: 1, why });
}

/// Why a whole script is skipped.
fn skipped(text: &str, mode: IpMode) -> Option<(u32, String)> {
    match Host::new().run_with(text, &settings(mode)).verdict {
        Verdict::Skip { line, why } => Some((line, why)),
        _ => None,
    }
}

#[test]
fn a_script_runs_in_the_mode_that_it_names() {
    let text = format!("--ip_version=ipv6\n{SOCKET}");
    let (line, why) = skipped(&text, IpMode::Ipv4).unwrap();
    assert_eq!(line, 1);
    assert_eq!(why, "--ip_version=ipv6: it is for that mode only");
    assert!(skipped(&text, IpMode::Mapped).is_some());
    assert_eq!(skipped(&text, IpMode::Ipv6), None);
}

#[test]
fn unsupported_call_is_skipped_at_its_line() {
    let text = format!("{SOCKET}+0 setsockopt(3, IPPROTO_TCP, TCP_NOOPT, [1], 4) = 0");
    let expected = (2, "names TCP_NOOPT, a FreeBSD socket option".into());
    assert_eq!(skipped(&text, IpMode::Ipv4), Some(expected));
    // Its sysctls come first: they say which system it is for.
    let text = format!("`sysctl -w net.inet.tcp.sack.enable=1`\n{text}");
    let expected = (1, "names net.inet.tcp.sack.enable, a FreeBSD sysctl".into());
    assert_eq!(skipped(&text, IpMode::Ipv4), Some(expected));
}

#[test]
fn scripts_of_the_head_and_files_of_defaults_are_shell_lines() {
    let mut settings = settings(IpMode::Ipv4);
    settings.init_scripts = vec!["./defaults.sh".into()];
    let run = |settings: &crate::Settings| Host::new().run_with(SOCKET, settings).verdict;
    assert!(matches!(run(&settings), Verdict::Skip { line: 0, .. }));
    settings.defaults = Some("sysctl -q net.ipv4.tcp_sack=0".into());
    assert_eq!(run(&settings), Verdict::Pass);
    settings.defaults = Some("sysctl -q net.ipv4.unknown=0".into());
    assert!(matches!(run(&settings), Verdict::Skip { line: 0, .. }));
}

#[test]
fn counters_and_listeners_are_looked_at() {
    // The host counts sockets.
    let opens = |more: &str| {
        let text = format!("0 `nstat -n`\n+{SOCKET}+0 `{more}`");
        let report = Host::new().run(&text);
        match report.verdict {
            Verdict::Pass => None,
            Verdict::Fail(failure) => Some(failure.why),
            Verdict::Skip { why, .. } => Some(format!("skip: {why}")),
        }
    };
    for (line, expected) in [
        ("nstat | grep ActiveOpens", None),
        ("nstat | grep ActiveOpens | grep -q ' 1 '", None),
        (
            "nstat -s | grep ActiveOpens; nstat | grep ActiveOpens",
            None,
        ),
        (
            "nstat | grep ActiveOpens; nstat | grep ActiveOpens",
            Some("nstat: ActiveOpens was expected to have grown, and has by 0"),
        ),
        (
            "nstat | grep ActiveOpens | grep -q ' 2 '",
            Some("nstat: ActiveOpens was expected to have grown by 2, and has by 1"),
        ),
        (
            "nstat | grep TcpExtNone",
            Some("skip: nstat: this host has no counter TcpExtNone"),
        ),
        (
            "grep ' 0A ' /proc/net/tcp /proc/net/tcp6 | grep ':1F90'",
            Some("no socket listens on port 8080"),
        ),
    ] {
        assert_eq!(opens(line).as_deref(), expected, "{line}");
    }
    let text = "+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                +0 `grep ' 0A ' /proc/net/tcp /proc/net/tcp6 | grep ':1F90'`";
    let report = Host::new().run(&format!("{SOCKET}{text}"));
    assert_eq!(report.verdict, Verdict::Pass);
}
