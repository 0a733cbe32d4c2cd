//! System calls and their arguments.

use super::call;
use crate::script::{At, EpollData, Expr, Gre, MplsLabel};

/// The only argument of a call.
fn arg(text: &str) -> Expr {
    let mut args = call(&format!("f({text}) = 0"))
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .args;
    assert_eq!(args.len(), 1, "{text}");
    args.remove(0).value
}

/// The text of an expression, for comparison.
fn shown(expr: &Expr) -> String {
    let list = |items: &[At<Expr>]| {
        items
            .iter()
            .map(|i| shown(&i.value))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match expr {
        Expr::Ellipsis => "...".into(),
        Expr::Int(n) => n.to_string(),
        Expr::Word(word) => word.clone(),
        Expr::Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Expr::StrPrefix(bytes) => format!("{:?}...", String::from_utf8_lossy(bytes)),
        Expr::Or(a, b) => format!("({}|{})", shown(&a.value), shown(&b.value)),
        Expr::Assign(name, value) => format!("({name}={})", shown(&value.value)),
        Expr::List(items) => format!("[{}]", list(items)),
        Expr::Group(items) => format!("{{{}}}", list(items)),
        Expr::InetAddr(address) => format!("inet {address}"),
        Expr::Inet6Addr(address) => format!("inet6 {address}"),
        Expr::SockAddr(address) => format!("addr {address}"),
        Expr::Iovec(len) => format!("iov {}", shown(&len.value)),
        Expr::MsgHdr(m) => format!(
            "msg {} {} {} {}",
            m.iov_len.value,
            shown(&m.iov.value),
            shown(&m.flags.value),
            shown(&m.control.value)
        ),
        Expr::Cmsg(parts) => format!("cmsg {}", list(parts.as_ref())),
        Expr::ScmTimestamping { sec, nsec } => format!("scm {sec} {nsec}"),
        Expr::ExtendedErr(parts) => format!("ee {}", list(parts.as_ref())),
        Expr::PollFd(parts) => format!("poll {}", list(parts.as_ref())),
        Expr::EpollEvent {
            events,
            member,
            data,
        } => {
            format!(
                "epoll {} {member:?} {}",
                shown(&events.value),
                shown(&data.value)
            )
        }
        Expr::Linger { onoff, linger } => format!("linger {onoff} {linger}"),
        Expr::MplsStack(labels) => format!("mpls {}", labels.len()),
        Expr::Gre(gre) => format!("gre {:#x}", gre.flags),
    }
}

#[test]
fn arguments() {
    for (text, expected) in [
        ("...", "..."),
        ("-1", "-1"),
        ("0x7fffffffffffffff", "9223372036854775807"),
        ("SOCK_STREAM", "SOCK_STREAM"),
        ("A|B|0x10", "(A|(B|16))"),
        ("A|b = c|d", "(A|(b=(c|d)))"),
        ("u32 = 5", ""),
        (r#""a\"b\x41\\\n""#, r#""a\"bA\\\n""#),
        (r#""one" "two""#, r#""onetwo""#),
        (r#""begin"..."#, r#""begin"..."#),
        ("[]", "[]"),
        ("[1, [A], {2, 3}]", "[1 [A] {2 3}]"),
        ("{...}", "{...}"),
        ("{..., 1000}", "iov 1000"),
        ("{}", "mpls 0"),
        (r#"inet_addr("1.2.3.4")"#, "inet 1.2.3.4"),
        (r#"inet6_addr("fd::1")"#, "inet6 fd::1"),
        (
            r#"{sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr("1.2.3.4")}"#,
            "addr 1.2.3.4:80",
        ),
        (
            r#"{sa_family = AF_INET6, sin_port = htons(80), sin_addr = inet_addr("fd::1")}"#,
            "addr [fd::1]:80",
        ),
        (
            "{msg_name(...)=..., msg_iov(2)=[{..., 10}, {..., 20}], msg_flags=MSG_EOR|4}",
            "msg 2 [iov 10 iov 20] (MSG_EOR|4) []",
        ),
        (
            "{msg_name(...)=..., msg_iov(1)=[{...,1}], msg_flags=0, msg_control=[{cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=7}]}",
            "msg 1 [iov 1] 0 [cmsg SOL_TCP TCP_CM_INQ 7]",
        ),
        ("{scm_sec=1, scm_nsec=200000}", "scm 1 200000"),
        (
            "{ee_errno=ENOMSG, ee_origin=4, ee_type=SCM_TSTAMP_SND, ee_code=0, ee_info=0, ee_data=999}",
            "ee ENOMSG 4 SCM_TSTAMP_SND 0 0 999",
        ),
        ("{fd=3, events=POLLIN|POLLOUT}", "poll 3 (POLLIN|POLLOUT) 0"),
        (
            "{fd=3, events=POLLIN, revents=POLLIN}",
            "poll 3 POLLIN POLLIN",
        ),
        ("{events=EPOLLIN, fd=4}", "epoll EPOLLIN Fd 4"),
        ("{events=EPOLLIN, u64=0xff}", "epoll EPOLLIN U64 255"),
        ("{onoff=1, linger=0}", "linger 1 0"),
        ("{(label 1, tc 2, [S], ttl 3)}", "mpls 1"),
        ("{flags [none], sum 0, off 0, key 0, seq 0}", "gre 0x0"),
    ] {
        if expected.is_empty() {
            assert!(call(&format!("f({text}) = 0")).is_err(), "{text}");
        } else {
            assert_eq!(shown(&arg(text)), expected, "{text}");
        }
    }
    let one = MplsLabel {
        label: 1,
        tc: 2,
        bottom: true,
        ttl: 3,
    };
    assert_eq!(
        arg("{(label 1, tc 2, [S], ttl 3)}"),
        Expr::MplsStack(vec![one])
    );
    let gre = Gre {
        flags: 0x3000,
        sum: 1,
        off: 2,
        key: 3,
        seq: 4,
    };
    assert_eq!(
        arg("{flags 0x3000 sum 1, off 2 key = 3, seq 4}"),
        Expr::Gre(gre)
    );
    let epoll = arg("{events=1, ptr=2}");
    assert!(matches!(
        epoll,
        Expr::EpollEvent {
            member: EpollData::Ptr,
            ..
        }
    ));
}

#[test]
fn results_errors_and_notes() {
    for (text, result, errno, note) in [
        ("close(3) = 0", "0", None, None),
        (
            "read(3, ..., 1) = -1 EAGAIN (try again)",
            "-1",
            Some("EAGAIN"),
            Some("try again"),
        ),
        (
            "fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)",
            "2",
            None,
            Some("flags O_RDWR"),
        ),
        // Words of the language are words in notes.
        (
            "close(9) = -1 EBADF (bad fd id)",
            "-1",
            Some("EBADF"),
            Some("bad fd id"),
        ),
        ("f() = A|B", "(A|B)", None, None),
    ] {
        let call = call(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(shown(&call.result.value), result, "{text}");
        assert_eq!(call.errno.map(|e| e.value).as_deref(), errno, "{text}");
        assert_eq!(call.note.as_deref(), note, "{text}");
    }
}

#[test]
fn a_call_that_blocks_has_an_end() {
    let call = call("...0.25 accept(3, ..., ...) = 4").unwrap();
    assert_eq!(
        (call.ends, call.name.value.as_str(), call.args.len()),
        (Some(250_000), "accept", 3)
    );
    assert_eq!((call.close.line, call.close.column), (1, 29));
}
