//! The bytes that tc 6.1 sends for the same words (`strace -e trace=sendmsg -e write=3 tc qdisc add dev lo root WORDS`):
//! the structure and each attribute of `TCA_OPTIONS` on a little-endian machine. Left out of them: tables of transmission
//! times, RED's table of damping and netem's of distributions, which have tests where they are made, and prio's empty
//! attribute.

use tcplab_qdisc::netlink::{Message, read};
use tcplab_qdisc::{KINDS, Settings, examples};

fn messages(text: &str) -> Vec<Message> {
    let settings = Settings::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.why));
    settings.kind().messages()
}

/// The options of the first message.
fn options(text: &str) -> Option<Vec<u8>> {
    messages(text).swap_remove(0).options
}

/// A structure, then attributes, each as text.
fn parts(text: &str, bytes: &[u8]) -> Vec<String> {
    let kind = text.split(' ').next();
    let (head, left_out): (_, &[u16]) = match kind {
        Some("netem") => (24, &[2, 13]),
        Some("prio") => (20, &[]),
        Some("pfifo" | "bfifo" | "pfifo_head_drop") => (4, &[]),
        Some("red") => (0, &[2]),
        _ => (0, &[]),
    };
    let (head, rest) = bytes.split_at(head);
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
    let mut parts = Vec::from_iter((!head.is_empty()).then(|| hex(head)));
    let mut at = 0;
    for (kind, value) in read(rest) {
        let end = (at + 4 + value.len()).next_multiple_of(4);
        if !left_out.contains(&kind) {
            parts.push(hex(&rest[at..end]));
        }
        at = end;
    }
    assert_eq!(at, rest.len(), "what stands behind the last attribute");
    parts
}

fn ours(text: &str) -> Vec<String> {
    parts(text, &options(text).unwrap_or_default())
}

#[test]
fn messages_equal_those_of_tc() {
    for (text, tc) in WHOLE {
        assert_eq!(ours(text).join(" "), tc, "{text}");
    }
    for (text, tc) in PART {
        let ours = ours(text);
        for part in tc.split(' ') {
            assert!(
                ours.iter().any(|is| is == part),
                "{text}: {part} in {ours:?}"
            );
        }
    }
    for (text, tc) in CLASS {
        let class = messages(text).swap_remove(1);
        assert!(class.is_class, "{text}");
        let bytes = class.options.expect(text);
        assert_eq!(parts(text, &bytes).join(" "), tc, "{text}");
    }
}

#[test]
fn every_kind_that_kernels_have_is_held_to_the_bytes_of_tc() {
    let is_of = |kind, text: &str| text.split(' ').next() == Some(kind);
    for kind in KINDS {
        let words = examples().map(|[words, _]| words);
        let words = words.filter(|words| is_of(kind, words));
        let settings = words.map(|words| Settings::parse(words).expect(words));
        let of_kernels = settings.filter(|settings| settings.kind().not_in_kernels().is_none());
        let mut whole = WHOLE.iter().chain(&CLASS);
        let is_here = whole.any(|(text, _)| is_of(kind, text));
        assert_eq!(is_here, of_kernels.count() > 0, "{kind}");
    }
}

/// What tc leaves to the kernel when nothing is said is the kernel's own default (cake_init(), fq_codel_init(), ...).
#[test]
fn nothing_said_is_the_default() {
    for (text, all) in [
        (
            "cake",
            "cake unlimited diffserv3 noatm triple-isolate mpu 0 rtt 100ms fwmark 0 nowash split-gso egress \
             no-ack-filter",
        ),
        ("codel", "codel limit 1000 target 5ms interval 100ms noecn"),
        (
            "fq_codel",
            "fq_codel limit 10240 flows 1024 target 5ms interval 100ms ecn memory_limit 32mb drop_batch 64",
        ),
    ] {
        assert_eq!(ours(text), ours(all));
    }
    assert_eq!(options("pfifo"), None);
}

#[test]
fn netem_is_finer_than_ticks_where_it_must_be() {
    let parts = ours("netem delay 25001ns");
    assert_eq!(parts[1], "0c000a00a961000000000000");
    let table = options("netem delay 10ms 1ms distribution normal").unwrap();
    // The first values and the length of tc's file.
    assert_eq!(
        table[24..36],
        [4, 0x20, 2, 0, 0, 0x80, 0x6d, 0x91, 9, 0x97, 0x91, 0x9a]
    );
    assert_eq!(table.len(), 24 + 4 + 8_192);
}

/// What `tc qdisc add dev DEV root handle 1: ...` and `tc qdisc add dev DEV parent 1:N ...` name.
#[test]
fn children_stand_in_the_classes_of_the_first() {
    let all = [(0xffff_ffff, 0x1_0000), (0x1_0001, 0), (0x1_0002, 0)];
    for (text, kinds) in [
        (
            "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 child codel",
            &["prio", "codel", "codel"][..],
        ),
        (
            "tbf rate 1mbit burst 5k limit 9k child fq_codel",
            &["tbf", "fq_codel"],
        ),
        ("htb rate 1mbit child pfifo", &["htb", "htb", "pfifo"]),
    ] {
        let sent = messages(text);
        let names: Vec<&str> = sent.iter().map(|message| message.kind).collect();
        assert_eq!(names, kinds, "{text}");
        if !text.starts_with("htb") {
            for (message, right) in sent.iter().zip(all) {
                assert_eq!((message.parent, message.handle), right, "{text}");
            }
        }
    }
    // Bands are FIFOs of themselves: one message, as before.
    assert_eq!(messages("prio").len(), 1);
}

/// RED's timer runs by the flags of its structure alone.
#[test]
fn adaptive_red_says_so_where_the_kernel_looks() {
    let parts = ours("red limit 400000 avpkt 1000 ecn adaptive");
    assert!(parts[0].ends_with("05"), "{parts:?}");
    assert_eq!(parts.len(), 2, "no flags beside it: {parts:?}");
}

/// Words that say all that is written.
const WHOLE: [(&str, &str); 28] = [
    (
        "cake bandwidth 1mbit besteffort dual-srchost atm overhead 18 mpu 64 rtt 50ms memlimit 4mb fwmark 0xff nat wash no-split-gso ingress ack-filter-aggressive",
        "0c00020048e8010000000000 0800030003000000 0800040001000000 0800050005000000 0800060012000000 08000e0040000000 0800070050c30000 08000800c4090000 0800090000000000 08000a0000004000 08001200ff000000 08000b0001000000 08000d0001000000 0800110000000000 08000f0001000000 0800100002000000",
    ),
    (
        "cake unlimited precedence noatm flowblind raw mpu 0 rtt 100ms autorate-ingress fwmark 0 nowash split-gso egress no-ack-filter",
        "0c0002000000000000000000 0800030004000000 0800040000000000 0800050000000000 0800060000000000 08000c0000000000 08000700a0860100 0800080088130000 0800090001000000 08000d0000000000 0800110001000000 08000f0000000000 0800100000000000",
    ),
    (
        "cake bandwidth 30mbit diffserv4 triple-isolate pppoe-ptm mpu 0 metro fwmark 1 wash split-gso egress ack-filter",
        "0c0002007038390000000000 0800030001000000 0800040002000000 0800050007000000 080006001e000000 0800070010270000 08000800f4010000 0800090000000000 0800120001000000 08000d0001000000 0800110001000000 08000f0000000000 0800100001000000",
    ),
    (
        "netem delay 25ms",
        "e1f50500e803000000000000000000000000000000000000",
    ),
    (
        "netem limit 100 delay 25ms 3ms 25% loss 1% 10% duplicate 0.5% corrupt 0.1% 3% rate 10mbit 14 48 5",
        "e1f5050064000000295c8f020000000014ae47011bb70000 10000100000000409a99991900000000 0c000400378941007b14ae07 14000600d01213000e0000003000000005000000",
    ),
    (
        "netem loss gemodel 1% 10% 70% 0.1% ecn",
        "00000000e803000000000000000000000000000000000000 0800070001000000 1800058014000200295c8f029a999919cdcccc4c37894100",
    ),
    (
        "netem loss state 1% 20% 3% 40% 5%",
        "00000000e803000000000000000000000000000000000000 1c00058018000100295c8f02333333337b14ae07cdcccc0c66666666",
    ),
    (
        "netem delay 10ms reorder 25% 50% gap 5",
        "5a620200e803000000000000050000000000000000000000 10000100000000000000000000000000 0c0003000000004000000080",
    ),
    (
        "netem slot 800us 1ms packets 32 bytes 64k",
        "00000000e803000000000000000000000000000000000000 2c000c0000350c000000000040420f0000000000200000000000010000000000000000000000000000000000",
    ),
    (
        "netem slot distribution normal 1ms 100us",
        "00000000e803000000000000000000000000000000000000 2c000c0000000000000000000000000000000000000000000000000040420f0000000000a086010000000000",
    ),
    (
        "netem delay 10ms 1ms distribution paretonormal",
        "5a620200e8030000000000000000000000000000093d0000",
    ),
    (
        "netem rate 100gbit",
        "00000000e803000000000000000000000000000000000000 0c00080000dd0ee902000000 14000600ffffffff000000000000000000000000",
    ),
    (
        "tbf rate 10mbit burst 32k latency 50ms",
        "2800010003010000ffff0000d012130000000000000000000000000024740100f93f060000000000 0800060000800000",
    ),
    (
        "tbf rate 1mbit burst 5k limit 20k peakrate 2mbit mtu 2000 mpu 64 overhead 14 linklayer atm",
        "2800010003020e00ffff400048e8010003020e00ffff400090d003000050000000c4090048e80100 0800060000140000 08000700d0070000",
    ),
    (
        "tbf rate 100gbit burst 1m latency 1ms",
        "2800010003010000ffff0000ffffffff00000000000000000000000020bcce00e40e000000000000 0800060000001000 0c00040000dd0ee902000000",
    ),
    (
        "codel limit 500 target 5ms interval 100ms ecn ce_threshold 1ms",
        "08000200f4010000 08000300a0860100 0800010088130000 0800040001000000 08000500e8030000",
    ),
    (
        "fq_codel limit 500 flows 64 quantum 300 target 5ms interval 50ms noecn ce_threshold 1ms memory_limit 4mb drop_batch 8",
        "08000200f4010000 0800050040000000 080006002c010000 0800030050c30000 0800010088130000 0800040000000000 08000700e8030000 0800090000004000 0800080008000000",
    ),
    (
        "fq limit 500 flow_limit 50 quantum 3000 initial_quantum 15000 maxrate 10mbit buckets 512 orphan_mask 255 low_rate_threshold 550kbit ce_threshold 1ms refill_delay 20ms timer_slack 5us horizon 2s horizon_cap nopacing",
        "0800080009000000 08000100f4010000 0800020032000000 08000300b80b0000 08000400983a0000 0800050000000000 08000700d0121300 08000b008e0c0100 08000900204e0000 08000a00ff000000 08000c00e8030000 08000d0088130000 08000e0080841e00 05000f0000000000",
    ),
    (
        "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10mbit",
        "14000100801a060030750000905f010005160f00 0800030051b81e05 0c000400010000000f000000",
    ),
    (
        "red limit 400000 avpkt 1000",
        "14000100801a060035820000a086010005160f00 0800030051b81e05 0c000400000000000f000000",
    ),
    (
        "red limit 400000 avpkt 1000 ecn nodrop harddrop probability 0.1",
        "14000100801a060035820000a086010005140f00 0800030099999919 0c0004000b0000000f000000",
    ),
    ("prio", "0300000001020202010200000101010101010101"),
    (
        "prio bands 4 priomap 1 2 3 0",
        "0400000001020300010200000101010101010101",
    ),
    ("pfifo limit 100", "64000000"),
    ("pfifo limit 0", "00000000"),
    ("bfifo limit 30k", "00780000"),
    ("pfifo_head_drop limit 100", "64000000"),
    (
        "pie limit 500 target 20ms tupdate 30ms alpha 3 beta 21 ecn bytemode dq_rate_estimator",
        "08000200f4010000 0800030030750000 08000100204e0000 0800040003000000 0800050015000000 0800060001000000 0800070001000000 0800080001000000",
    ),
];

/// Words of which tc writes a part; the rest is the default.
const PART: [(&str, &str); 7] = [
    (
        "cake bandwidth 30mbit ack-filter",
        "0c0002007038390000000000 0800090000000000 0800100001000000",
    ),
    (
        "cake conservative lan",
        "0800040001000000 0800060030000000 08000700e8030000 0800080032000000",
    ),
    (
        "cake bandwidth 20mbit docsis diffserv8 triple-isolate",
        "0c000200a025260000000000 0800030002000000 0800040000000000 0800050007000000 0800060012000000 08000e0040000000 0800090000000000",
    ),
    (
        "cake bandwidth 5mbit overhead -4 ether-vlan",
        "0c0002006889090000000000 0800060000000000 0800090000000000",
    ),
    (
        "fq pacing horizon_drop",
        "0800050001000000 05000f0001000000",
    ),
    ("fq_codel quantum 300", "080006002c010000"),
    ("codel ecn", "0800040001000000"),
];

/// Classes of htb.
const CLASS: [(&str, &str); 3] = [
    (
        "htb rate 10mbit",
        "3000010003010000ffff0000d012130003010000ffff0000d0121300204e0000204e0000000000000000000000000000",
    ),
    (
        "htb rate 1mbit ceil 2mbit mpu 64 overhead 10 linklayer atm burst 5k",
        "3000010003020a00ffff400048e8010003020a00ffff400090d0030000c40900a0860100000000000000000000000000",
    ),
    (
        "htb rate 40gbit",
        "0c00060000f2052a01000000 0c00070000f2052a01000000 3000010003010000ffff0000ffffffff03010000ffff0000ffffffff0000000000000000000000000000000000000000",
    ),
];
