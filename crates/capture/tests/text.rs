//! The text of tcpdump: own samples of every form, and what tcpdump itself prints for packets that are known.

mod common;

use common::{connection, endpoint, file, installed, output, text};
use tcplab_base::{Duration, Instant};
use tcplab_capture::{Body, PcapWriter, Reader, Record};
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{Config, LinkType, TcpPacket};

/// Time in microseconds, microseconds since the packet before, packet.
type Row = (Option<i64>, Option<i64>, TcpPacket);

fn read(input: &str) -> Vec<Row> {
    let mut reader = Reader::new(input.as_bytes()).expect("text of tcpdump");
    let mut rows = Vec::new();
    while let Some(record) = reader.next().expect("no damage in text") {
        let Record {
            time,
            since_previous,
            body,
            ..
        } = record;
        if let Body::Tcp(p) = body {
            let time = time.map(|t| t.as_nanos() / 1_000);
            rows.push((time, since_previous.map(Duration::as_micros), *p));
        }
    }
    rows
}

#[test]
fn a_report_as_it_stands_in_a_mail() {
    let mail = "Hello,\n\nhere is what I see (tcpdump -n):\n\n\
        > tcpdump: verbose output suppressed, use -v[v]... for full protocol decode\n\
        > listening on eth0, link-type EN10MB (Ethernet), snapshot length 262144 bytes\n\
        > 0.000000 0.000000 IP 192.0.2.1.49816 > 192.0.2.2.1234: Flags [S], seq 1555664477, win 29200, options [mss 1460,nop,nop,sackOK,nop,wscale 7], length 0\n\
        > 0.000173 0.000173 IP 192.0.2.2.1234 > 192.0.2.1.49816: Flags [S.], seq 3117088680, ack 1555664478, win 64240, options [mss 1460,nop,nop,sackOK,nop,wscale 7], length 0\r\n\
        > 0.000202 0.000029 IP 192.0.2.1.49816 > 192.0.2.2.1234: Flags [.], ack 1, win 229, length 0\n\
        > 0.000258 0.000056 IP 192.0.2.1.49816 > 192.0.2.2.1234: Flags [P.], seq 1:21, ack 1, win 229, length 20\n\
        > 0.000300 0.000042 ARP, Request who-has 192.0.2.9 tell 192.0.2.1, length 28\n\
        > 0.040320 0.040020 IP 192.0.2.2.1234 > 192.0.2.1.49816: Flags [.], ack 21, win 502, length 0\n\
        \nThe last ACK comes after 40 ms. Why?\n";
    let rows = read(mail);
    assert_eq!(
        rows.iter().map(|r| r.0).collect::<Vec<_>>(),
        [0, 173, 202, 258, 40_320].map(Some)
    );
    assert_eq!(
        rows.iter().map(|r| r.1).collect::<Vec<_>>(),
        [0, 173, 29, 56, 40_020].map(Some)
    );
    let numbers: Vec<_> = rows
        .iter()
        .map(|r| (r.2.seq.0, r.2.ack.0, r.2.payload_len))
        .collect();
    let (c, s) = (1_555_664_477, 3_117_088_680);
    assert_eq!(
        numbers,
        [
            (c, 0, 0),
            (s, c + 1, 0),
            (c + 1, s + 1, 0),
            (c + 1, s + 1, 20),
            (s + 1, c + 21, 0)
        ]
    );
    let mut reader = Reader::new(mail.as_bytes()).expect("text");
    let mut count = 0;
    while let Ok(Some(r)) = reader.next() {
        count += 1;
        assert_eq!(r.number, count);
    }
    assert_eq!(count, 6, "five of TCP, one of ARP");
}

#[test]
fn one_direction_keeps_the_time_since_a_removed_packet() {
    let log = "\
        0.000361 0.000028 IP 192.0.2.1.47134 > 192.0.2.2.1234: Flags [.], ack 1, win 502, length 0\n\
        0.001599 0.000021 IP 192.0.2.1.47134 > 192.0.2.2.1234: Flags [.], ack 1025, win 501, length 0\n\
        0.101637 0.000022 IP 192.0.2.1.47134 > 192.0.2.2.1234: Flags [.], ack 2049, win 501, length 0\n\
        1.642092 0.040304 IP 192.0.2.1.47134 > 192.0.2.2.1234: Flags [.], ack 17409, win 501, length 0\n";
    let rows = read(log);
    assert_eq!(rows[3].0, Some(1_642_092));
    assert_eq!(rows[3].1, Some(40_304));
    assert_eq!(
        rows.iter().map(|r| r.2.ack.0).collect::<Vec<_>>(),
        [1, 1025, 2049, 17_409]
    );
}

#[test]
fn names_are_asked_to_be_numbers() {
    let log =
        "12:00:00.1 IP a.example.47134 > b.example.http: Flags [.], ack 1, win 502, length 0\n";
    let mut reader = Reader::new(log.as_bytes()).expect("it may be text of tcpdump");
    let error = reader.next().expect_err("nothing can be read");
    assert!(error.message.contains("tcpdump -n"), "{error}");
    assert_eq!(error.offset, 0);
}

#[test]
fn long_lines_and_binary_bytes_do_no_harm() {
    let line = "0.1 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [.], ack 1, win 5, length 0\n";
    let mut bytes = line.as_bytes().to_vec();
    bytes.extend(vec![b'x'; 300_000]);
    bytes.push(b'\n');
    bytes.extend_from_slice(b"\xff\xfe\xc3 broken UTF-8 > \xff: Flags [\n");
    bytes.extend_from_slice(line.as_bytes());
    bytes.extend_from_slice(line.trim_end().as_bytes());
    let mut reader = Reader::new(&bytes[..]).expect("text");
    let mut count = 0;
    while let Ok(Some(_)) = reader.next() {
        count += 1;
    }
    assert_eq!(count, 3);
    for cut in 0..line.len() {
        if let Ok(mut reader) = Reader::new(&line.as_bytes()[..cut]) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}

/// Lines as people paste them, with what is the same in all of them.
#[test]
fn forms_of_a_line() {
    let body = "192.0.2.1.5 > 192.0.2.2.6: Flags [P.], seq 1:1025, ack 1, win 229, options [nop,nop,TS val 1 ecr 2], length 1024";
    for before in [
        "IP ",
        "10:00:00.000001 IP ",
        "eth0  In  IP ",
        "10:00:00.000001 lo    Out IP ",
        "1.5 IP ",
        "  12 0.000042 IP ",
        "> | IP ",
        "2024-02-29 10:00:00.000001 IP ",
        " 00:00:00.000001 IP ",
        "[  0.000042] IP ",
        "host kernel: 10:00:00.000001 IP ",
        "10:00:00.000001 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 1090: ",
        "10:00:00.000001 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype 802.1Q (0x8100), length 1094: vlan 7, p 0, ethertype IPv4 (0x0800), ",
    ] {
        let rows = read(&format!("{before}{body}\n"));
        let [(_, _, p)] = rows[..] else {
            panic!("{before}: {} packets", rows.len());
        };
        assert_eq!(
            (p.src, p.dst),
            (endpoint("192.0.2.1", 5), endpoint("192.0.2.2", 6)),
            "{before}"
        );
        assert_eq!(
            (p.payload_len, p.window, p.options.timestamps),
            (1024, 229, Some((1, 2))),
            "{before}"
        );
    }
}

/// Two connections, the second over IPv6, one packet each 10.5 ms.
fn known_packets() -> Vec<(Instant, TcpPacket)> {
    let first = connection(endpoint("192.0.2.1", 40_000), endpoint("198.51.100.2", 80));
    let second = connection(
        endpoint("2001:db8::9", 443),
        endpoint("2001:db8::1", 50_000),
    );
    first
        .into_iter()
        .zip(second)
        .flat_map(|(a, b)| [a, b])
        .enumerate()
        .map(|(i, p)| {
            (
                Instant::from_nanos(1_700_000_000_000_000_000 + i as i64 * 10_500_000),
                p,
            )
        })
        .collect()
}

#[test]
fn tcpdumps_text_gives_the_captures_packets() {
    if !installed("tcpdump") {
        return;
    }
    let packets = known_packets();
    let mut writer = PcapWriter::new(Vec::new(), LinkType::Ethernet, 262_144).expect("memory");
    for (time, p) in &packets {
        let mut frame = Vec::new();
        let payload = vec![b'a'; p.payload_len as usize];
        let len = emit(
            LinkType::Ethernet,
            p,
            Payload::Bytes(&payload),
            &Config::default(),
            &mut frame,
        )
        .expect("plain");
        writer.packet(Some(*time), &frame, len).expect("memory");
    }
    let path = file("known.pcap", &writer.finish().expect("memory"));
    let forms: [&[&str]; 12] = [
        &[],
        &["-t"],
        &["-tt"],
        &["-ttt"],
        &["-tttt"],
        &["-ttttt"],
        &["-S"],
        &["-e"],
        &["-v"],
        &["-vv", "-X"],
        &["-e", "-v", "-tt"],
        &["-#", "-ttttt", "-A"],
    ];
    for form in forms {
        let args = [&["-n", "-r", text(&path)], form].concat();
        let rows = read(&output("tcpdump", &args));
        assert_eq!(rows.len(), packets.len(), "tcpdump {form:?}");
        for (i, ((time, _, got), (_, want))) in rows.iter().zip(&packets).enumerate() {
            let verbose = form.iter().any(|o| o.starts_with("-v"));
            let want = TcpPacket {
                ttl: if verbose { want.ttl } else { 0 },
                ip_id: want.ip_id.filter(|_| verbose),
                // A RST without ACK says no acknowledgment number, nor a SYN.
                ..*want
            };
            assert_eq!(*got, want, "tcpdump {form:?}, packet {}", i + 1);
            let since = time.zip(rows[0].0).map(|(t, first)| t - first);
            let known = (!form.contains(&"-t")).then_some(i as i64 * 10_500);
            assert_eq!(since, known, "tcpdump {form:?}, packet {}", i + 1);
        }
    }
}

#[test]
fn impossible_number_is_damage_with_its_line() {
    let good =
        "0.1 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [P.], seq 1:21, ack 1, win 229, length 20\n";
    let line = |rest: &str| format!("0.2 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [P.], {rest}\n");
    for (rest, field) in [
        ("seq 21, ack 1, win 229, length 4294967295", "length"),
        ("seq 21, ack 1, win 229, length 16777217", "length"),
        ("seq 21, ack 1, win 229, length 99999999999", "length"),
        ("seq 21:20, ack 1, win 229", "length"),
        ("seq 4294967296:4294967297, ack 1, win 229, length 1", "seq"),
        ("seq 1:4294967297, ack 1, win 229, length 1", "seq"),
        ("seq 21:31, ack 4294967296, win 229, length 10", "ack"),
        ("seq 21:31, ack 1, win 65536, length 10", "win"),
        ("seq 21:31, ack 1, win 1, urg 65536, length 10", "urg"),
    ] {
        let text = format!("{good}{}{good}", line(rest));
        let mut reader = Reader::new(text.as_bytes()).expect("text of tcpdump");
        assert!(reader.next().expect("the first line").is_some());
        let error = reader.next().expect_err(rest);
        assert_eq!(error.offset, good.len() as u64, "{rest}");
        assert!(error.message.contains(&format!("`{field}`")), "{error}");
    }
    // The largest that are read; sequence numbers wrap.
    let rows = read(&format!(
        "{good}{}{}",
        line("seq 4294967290:10, ack 1, win 65535, length 16"),
        line("seq 10, ack 1, win 1, length 16777216"),
    ));
    let lengths: Vec<u32> = rows.iter().map(|r| r.2.payload_len).collect();
    assert_eq!(lengths, [20, 16, 1 << 24]);
    assert_eq!(rows[2].2.seq_len(), 1 << 24);
}

#[test]
fn hostile_times_of_a_text_overflow_nothing() {
    let big = "9223372036.854775807";
    let lines = ["0.5", big, "0.000001", big].map(|t| {
        format!("{t} {t} IP 192.0.2.1.1 > 192.0.2.2.2: Flags [.], ack 1, win 1, length 0\n")
    });
    assert_eq!(read(&lines.concat()).len(), 4);
}

/// `-v` prints the packet that an ICMP error quotes, further in than the error itself.
#[test]
fn packets_that_icmp_errors_quote_are_not_read() {
    let data = |seq: &str| {
        format!("    192.0.2.1.5 > 192.0.2.2.6: Flags [.], seq {seq}, ack 201, win 64, length 1448")
    };
    let ip = "(tos 0x0, ttl 64, id 9, offset 0, flags [DF], proto TCP (6), length 1500)";
    let error = "(tos 0xc0, ttl 64, id 7, offset 0, flags [none], proto ICMP (1), length 576)\n    \
        192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 unreachable - need to frag (mtu 1400), length 556";
    let mac = "02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 1514: ";
    let (time, later) = ("10:00:00.000001 ", "10:00:00.000002 ");
    let (one, two) = (data("1:1449"), data("1449:2897"));
    for (time, later, ip_word, quoted_word) in [
        (time, later, "IP ", "IP "),
        (time, later, mac, ""),
        ("", "", "IP ", "IP "),
        ("    9  ", "   10  ", "IP ", "IP "),
    ] {
        let text = format!(
            "{time}{ip_word}{ip}\n{one}\n{later}{ip_word}{error}\n\t{quoted_word}{ip}\n{one} [|icmp]\n{later}{ip_word}{ip}\n{two}\n"
        );
        let mail: String = text.lines().map(|l| format!("> {l}\n")).collect();
        for text in [text, mail] {
            let seqs: Vec<u32> = read(&text).iter().map(|r| r.2.seq.0).collect();
            assert_eq!(seqs, [1, 1449], "{text}");
        }
    }
}
