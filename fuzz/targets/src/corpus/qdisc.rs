//! Seeds of [`crate::qdisc`].

/// Two lines of words, then a program.
pub fn qdisc() -> Vec<Vec<u8>> {
    // A small segment, a pure ACK, a datagram of IPv6, a super-segment with a partial checksum; pauses and questions.
    let data = [1, 0, 1, 0, 200, 3, 0, 9, 0x18];
    let ack = [1, 32, 2, 0, 0, 0, 0, 10, 0];
    let datagram = [2, 3, 3, 0xb8, 100, 0, 0, 0, 0];
    let whole = [3, 144, 1, 2, 0xb8, 0x0b, 0, 11, 0x18, 1, 100, 0];
    let any = [0, 4, 1, 2, 3, 4, 0, 0, 0];
    let pause = [6, 0xff, 0xff, 4];
    let ask = [4, 3];
    let change = [7];
    let program: Vec<&[u8]> = vec![
        &data, &ack, &ack, &whole, &ask, &pause, &datagram, &any, &whole, &pause, &ask, &change,
        &data, &whole, &ack, &ask, &pause, &ask,
    ];
    let program = program.concat();
    let pairs = [
        [
            "cake bandwidth 1mbit ack-filter",
            "cake unlimited no-split-gso",
        ],
        [
            "cake bandwidth 1mbit memlimit 20k diffserv4 atm",
            "cake autorate-ingress",
        ],
        ["cake ack-filter-aggressive wash nat", "pfifo limit 3"],
        ["pfifo limit 5", "bfifo limit 3000"],
        [
            "netem delay 2ms 1ms loss 10% duplicate 20% corrupt 30% limit 9",
            "netem rate 1mbit",
        ],
        [
            "netem slot 1ms 3ms packets 2 reorder 20% gap 3 delay 1ms",
            "netem loss gemodel 10% 30%",
        ],
        [
            "tbf rate 1mbit burst 1600 limit 9000",
            "tbf rate 2mbit burst 5k latency 10ms",
        ],
        ["codel limit 9 ecn target 100us", "codel ce_threshold 1ms"],
        [
            "fq_codel flows 4 limit 9 memory_limit 9k",
            "fq_codel flows 4 limit 2",
        ],
        ["fq limit 9 maxrate 1mbit", "fq flow_limit 2 horizon_cap"],
        [
            "red limit 20000 min 1000 max 3000 avpkt 500 burst 5 ecn adaptive",
            "red limit 9000 avpkt 500",
        ],
        ["prio bands 4", "prio bands 3"],
        [
            "htb rate 1mbit ceil 2mbit child cake",
            "htb rate 5mbit child cake",
        ],
    ];
    let pairs = pairs.map(|[first, second]| {
        [first.as_bytes(), b"\n", second.as_bytes(), b"\n", &program].concat()
    });
    pairs.to_vec()
}
