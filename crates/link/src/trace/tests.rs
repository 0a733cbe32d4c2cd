//! Captures with any link type, chosen and cut, as frames of a link.

use super::*;

const AT: i64 = 1_790_000_000_000_000_000;

/// A capture with one interface of this link type.
fn capture(link: LinkType, frames: &[(i64, &[u8], u32)]) -> Vec<u8> {
    let mut out = PcapngWriter::new(Vec::new()).unwrap();
    for name in ["eth0", "eth1"] {
        out.add_interface(&Interface {
            link,
            snaplen: 0,
            tsresol: 9,
            name: Some(name.into()),
        })
        .unwrap();
    }
    for (n, (at, data, len)) in frames.iter().enumerate() {
        let time = Instant::from_nanos(AT + at);
        out.packet(n as u32 % 2, Some(time), data, *len, &[])
            .unwrap();
    }
    out.finish().unwrap()
}

fn read(bytes: &[u8], choice: &Choice, mtu: u32) -> Result<Trace, String> {
    let mut reader = Reader::new(bytes).unwrap();
    Trace::read(&mut reader, choice, mtu).map_err(|e| e.to_string())
}

/// An IPv4 header from 10.0.0.`host`, and a little behind it.
fn ip(host: u8) -> Vec<u8> {
    let mut packet = vec![0; 24];
    (packet[0], packet[1], packet[15]) = (0x45, 0x10, host);
    packet[12] = 10;
    packet
}

fn framed(host: u8) -> Vec<u8> {
    [&[9; 12][..], &IPV4, &ip(host)].concat()
}

#[test]
fn missing_bytes_are_zeros_and_addresses_new() {
    let (a, b) = (framed(1), framed(2));
    let file = capture(LinkType::Ethernet, &[(0, &a, 1514), (1_500, &b, 38)]);
    let trace = read(&file, &Choice::default(), 1500).unwrap();
    assert_eq!(trace.len(), 2);
    assert_eq!(trace.time(1), Some(Duration::from_nanos(1_500)));
    let mut frame = Vec::new();
    trace.frame(0, &mut frame);
    assert_eq!(frame.len(), 1514);
    assert_eq!((&frame[..12], &frame[12..38]), (&ADDRESSES[..], &a[12..]));
    assert!(frame[38..].iter().all(|byte| *byte == 0));
    assert_eq!(priority(&frame), 6);
}

#[test]
fn frames_without_ethernet_get_its_header() {
    let packet = ip(1);
    let sll = [&[0; 14][..], &IPV4, &packet].concat();
    let sll2 = [&IPV4, &[0; 18][..], &packet].concat();
    let null = [&[2, 0, 0, 0][..], &packet].concat();
    for (link, bytes) in [
        (LinkType::Raw, packet.clone()),
        (LinkType::Sll, sll),
        (LinkType::Sll2, sll2),
        (LinkType::Null, null),
    ] {
        let file = capture(link, &[(0, &bytes, 100 + bytes.len() as u32)]);
        let trace = read(&file, &Choice::default(), 1500).unwrap();
        let mut frame = Vec::new();
        trace.frame(0, &mut frame);
        assert_eq!(frame.len(), 14 + 24 + 100, "{link:?}");
        assert_eq!(frame[12..38], framed(1)[12..], "{link:?}");
    }
    let file = capture(LinkType::Other(127), &[(0, &packet, 24)]);
    let why = read(&file, &Choice::default(), 1500).unwrap_err();
    assert!(why.starts_with("frame 1 has link type 127"), "{why}");
}

#[test]
fn a_choice_of_frames_and_their_order() {
    let (a, b) = (framed(1), framed(2));
    let frames: [(i64, &[u8], u32); 3] = [(10, &a, 60), (5, &b, 61), (7, &a, 62)];
    let file = capture(LinkType::Ethernet, &frames);
    let sizes = |choice: &Choice| {
        let trace = read(&file, choice, 1500)?;
        let size = |n| {
            let mut frame = Vec::new();
            trace.frame(n, &mut frame);
            frame.len()
        };
        Ok::<_, String>((0..trace.len()).map(size).collect::<Vec<_>>())
    };
    let mut choice = Choice::default();
    assert_eq!(sizes(&choice).unwrap(), [61, 62, 60]);
    choice.from = Some("10.0.0.1".parse().unwrap());
    assert_eq!(sizes(&choice).unwrap(), [62, 60]);
    choice.from = None;
    choice.interface = Some("eth1".into());
    assert_eq!(sizes(&choice).unwrap(), [61]);
    choice.interface = Some("eth7".into());
    assert_eq!(sizes(&choice).unwrap_err(), "no frame of it was chosen");
}

/// Processors that take frames at once are close together; a clock that stepped back is not.
#[test]
fn a_clock_that_stepped_back_is_refused() {
    let a = framed(1);
    let file = |back_ms: i64| {
        let times = [0, 300, 300 - back_ms].map(|ms| (ms * 1_000_000, &a[..], 100));
        read(
            &capture(LinkType::Ethernet, &times),
            &Choice::default(),
            1500,
        )
    };
    assert_eq!(file(99).map(|trace| trace.len()), Ok(3));
    let why = file(250).unwrap_err();
    assert!(
        why.contains("frame 3 is 0.25 s earlier than frame 2"),
        "{why}"
    );
    assert!(why.contains("reordercap") && why.contains("1-2"), "{why}");
}

#[test]
fn a_super_segment_is_refused_with_its_number() {
    let frame = framed(1);
    let file = capture(LinkType::Ethernet, &[(0, &frame, 60), (1, &frame, 4_410)]);
    let why = read(&file, &Choice::default(), 1500).unwrap_err();
    assert!(why.starts_with("frame 2 has 4396 bytes"), "{why}");
    assert!(read(&file, &Choice::default(), 9000).is_ok());
}

#[test]
fn written_trace_reads_back_equal() {
    let (a, b) = (framed(1), framed(2));
    let file = capture(LinkType::Ethernet, &[(9, &a, 60), (5, &b, 900)]);
    let trace = read(&file, &Choice::default(), 1500).unwrap();
    let mut again = Vec::new();
    trace.write(&mut again).unwrap();
    let back = read(&again, &Choice::default(), 1500).unwrap();
    let mut frames = [Vec::new(), Vec::new()];
    for n in 0..2 {
        trace.frame(n, &mut frames[0]);
        back.frame(n, &mut frames[1]);
        assert_eq!(frames[0], frames[1]);
        assert_eq!(trace.time(n), back.time(n));
    }
}

#[test]
fn any_truncated_capture_is_an_error_or_a_shorter_trace() {
    let frame = framed(1);
    let file = capture(LinkType::Ethernet, &[(0, &frame, 60), (1, &frame, 61)]);
    for end in 0..file.len() {
        if let Ok(mut reader) = Reader::new(&file[..end]) {
            let read = Trace::read(&mut reader, &Choice::default(), 1500);
            assert!(read.is_err() || read.is_ok_and(|trace| trace.len() < 2));
        }
    }
}
