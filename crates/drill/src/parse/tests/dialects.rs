//! What other packetdrills write: FreeBSD's, and the first release.

use super::{call, packet, read};
use crate::parse::{Defines, parse};
use crate::script::{Body, Expr, IpInfo, Quoted, SeqRange, Tos};

/// The first thing that a script asks for and no target has.
fn lack(text: &str) -> Option<String> {
    let script = read(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let first = script.lacks.first()?;
    Some(format!(
        "{}:{}: {}",
        first.place.line, first.place.column, first.value
    ))
}

#[test]
fn other_words_for_the_same_thing() {
    for (theirs, ours) in [
        ("> (hlim 4) . 1:1(0)", "> (ttl 4) . 1:1(0)"),
        ("> (class 0x20) . 1:1(0)", "> (tos 0x20) . 1:1(0)"),
        (
            "< [1:1461(1460)] icmp unreachable frag_needed mtu 1200",
            "< icmp unreachable frag_needed mtu 1200 [1:1461(1460)]",
        ),
        (
            "< [udp (9)] icmp unreachable",
            "< icmp unreachable [udp (9)]",
        ),
    ] {
        let without_places = |text: &str| {
            let spec = packet(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            let body = match spec.body {
                Body::Icmp(icmp) => Err((icmp.kind.value, icmp.mtu, icmp.quoted)),
                body => Ok(body),
            };
            (spec.ip, body)
        };
        assert_eq!(without_places(theirs), without_places(ours), "{theirs}");
    }
    let spec = packet("> (class 0x20, hlim 4) . 1:1(0)").unwrap();
    let (tos, ttl) = (Tos::Byte(0x20), 4);
    assert_eq!(
        spec.ip,
        IpInfo {
            tos,
            ttl,
            flow_label: 0
        }
    );
    let twice = packet("< [1:2(1)] icmp unreachable [1:2(1)]").unwrap_err();
    assert!(twice.contains("only `icmp` quotes a packet"), "{twice}");
    let quoted = SeqRange { start: 1, len: 1 };
    let Body::Icmp(icmp) = packet("< [1:2(1)] icmp unreachable").unwrap().body else {
        panic!();
    };
    assert_eq!(icmp.quoted, Some(Quoted::Tcp(quoted)));
}

#[test]
fn messages_with_their_fields_in_another_order() {
    let header = |text: &str| {
        let call = call(&format!("recvmsg(3, {text}, 0) = 5")).unwrap();
        match &call.args[1].value {
            Expr::MsgHdr(header) => header.clone(),
            other => panic!("{other:?}"),
        }
    };
    let data = "cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=5";
    let ours = header(&format!(
        "{{msg_name(...)=..., msg_iov(1)=[{{...,5}}], msg_flags=0, msg_control=[{{{data}}}]}}"
    ));
    let theirs = header(&format!(
        "{{msg_name(...)=..., msg_iov(1)=[{{iov_base=..., iov_len=5}}], \
         msg_control(24)=[{{cmsg_len=20, {data}}}], msg_flags=0}}"
    ));
    let lens = |header: &crate::script::MsgHdr| match (&header.iov.value, &header.control.value) {
        (Expr::List(iov), Expr::List(control)) => match (&iov[0].value, &control[0].value) {
            (Expr::Iovec(len), Expr::Cmsg(parts)) => (
                len.value.clone(),
                parts.each_ref().map(|part| part.value.clone()),
            ),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(lens(&theirs), lens(&ours));
    assert_eq!(theirs.flags.value, ours.flags.value);
}

#[test]
fn unsupported_syntax_is_named_and_skipped() {
    for (text, expected) in [
        ("0 > . 1:1(0)", None),
        (
            "0 > S 0:0(0) win 9 <mss 1460>/udp(1 > 9811)",
            Some("1:30: TCP inside UDP (`/udp`) is not supported"),
        ),
        (
            "0 < icmp unreachable [1:2(1)/udp(1 > 2)]",
            Some("1:29: TCP inside UDP (`/udp`) is not supported"),
        ),
        (
            "0 > R 7:7(0)! ack 1",
            Some("1:13: sequence numbers of the wire (`!`) are not supported"),
        ),
        (
            "0 > R ...(0)",
            Some("1:7: any sequence number (`...`) is not supported"),
        ),
        (
            "0 > . 1:1(0) <nop,nop,md5 valid>",
            Some("1:27: digests that packetdrill makes (`md5 valid`) are not supported"),
        ),
        (
            "--udp_encapsulation=tcp\n0 > . 1:1(0)",
            Some("1:1: --udp_encapsulation asks for TCP inside UDP, which no target has"),
        ),
        (
            "0 setsockopt(3, IPPROTO_TCP, TCP_NOOPT, [1], 4) = 0",
            Some("1:30: names TCP_NOOPT, a FreeBSD socket option"),
        ),
        (
            "0 < icmp router_advertisement mtu 1492",
            Some("1:10: router advertisements are not supported: the route is given"),
        ),
    ] {
        assert_eq!(lack(text).as_deref(), expected, "{text}");
    }
    // What is wrong behind it is still found.
    let wrong = read("0 > R 7:7(0)!\n0 > . 1:9(1)").unwrap_err();
    assert!(wrong.starts_with("2:7"), "{wrong}");
}

#[test]
fn other_protocols_end_the_reading() {
    for (text, events, expected) in [
        (
            "0 > . 1:1(0)\n0 < sctp: INIT[tag=1]",
            1,
            "2:5: sctp is not supported: packets are TCP, UDP or ICMP",
        ),
        (
            "0 < [sctp(1)] icmp unreachable",
            0,
            "1:6: sctp is not supported: packets are TCP, UDP or ICMP",
        ),
        (
            "0 socket(..., SOCK_STREAM, IPPROTO_SCTP) = 3\n0 anything at all",
            0,
            "1:28: names IPPROTO_SCTP: SCTP is not supported, only TCP, UDP and ICMP",
        ),
        (
            "0 sctp_bindx(3, ...) = 0",
            0,
            "1:3: names sctp_bindx: SCTP is not supported, only TCP, UDP and ICMP",
        ),
    ] {
        assert_eq!(lack(text).as_deref(), Some(expected), "{text}");
        assert_eq!(read(text).unwrap().events.len(), events, "{text}");
    }
}

#[test]
fn lines_for_other_systems_are_left_out() {
    let text = "0 > . 1:1(0)\n#ifdef FreeBSD\n0 > . 2:2(0)\n0 > . 3:3(0)\n#endif\n\
                #ifdef Linux\n0 > . 4:4(0)\n#endif\n0 > . 5:5(0)";
    let lines = |defines: &Defines| -> Vec<u32> {
        let script = parse(text, defines).unwrap();
        script.events.iter().map(|event| event.place.line).collect()
    };
    assert_eq!(lines(&Defines::new()), [1, 7, 9]);
    let mut defines = Defines::new();
    defines.set("FreeBSD", "1");
    assert_eq!(lines(&defines), [1, 3, 4, 7, 9]);
    for (text, expected) in [
        (
            "#ifdef A\n0 > . 1:1(0)",
            "1:1: `#endif` of this `#ifdef` is missing",
        ),
        ("0 > . 1:1(0)\n#endif", "2:1: `#endif` without `#ifdef`"),
        (
            "#ifdef A\n#ifdef B\n#endif\n#endif",
            "2:1: the `#ifdef` of line 1 is not closed yet",
        ),
        (
            "#ifdef\n0 > . 1:1(0)",
            "1:1: `#ifdef` needs a name: `#ifdef Linux`",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
}
