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
    // Some of another kind beside those of one.
    let others = [
        ["cake ack-filter-aggressive wash nat", "pfifo limit 3"],
        ["pfifo limit 5", "bfifo limit 3000"],
    ];
    let pairs = tcplab_qdisc::examples().chain(others);
    let pairs = pairs.map(|[first, second]| {
        [first.as_bytes(), b"\n", second.as_bytes(), b"\n", &program].concat()
    });
    pairs.collect()
}
