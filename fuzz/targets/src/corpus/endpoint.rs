//! Beginnings for the endpoint's target: some that open a connection at either side, and some noise.

/// Inputs.
pub fn endpoint() -> Vec<Vec<u8>> {
    // A host with all options; then a SYN with MSS, scale, SACK; the ACK of its SYN-ACK; accept; data.
    let host = [0, 0, 5, 0];
    let syn = [0, 0x10, 0, 0, 0, 0, 0xff, 0xff, 0, 7, 0xb4, 0x05, 7, 0, 0];
    let ack = [0, 0x51, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0];
    let data = [0, 0x51, 0, 150, 0, 0, 0xff, 0xff, 0, 0, 1, 0];
    let accept = [9];
    let write = [10, 200, 0xff, 0x3f, 0];
    let read = [11, 255, 0, 0, 0, 1, 0];
    let shut = [12, 0];
    let close = [13, 0];
    let timers = [0xff];
    let connect = [8, 1, 0x98, 0x05, 0];
    let syn_ack = [0, 0x21, 0, 0, 0, 0, 0xff, 0xff, 0, 7, 0xb4, 0x05, 7, 1, 0];
    let server: Vec<&[u8]> = vec![
        &host, &syn, &ack, &accept, &data, &read, &write, &ack, &shut,
    ];
    let client: Vec<&[u8]> = vec![
        &host, &connect, &syn_ack, &write, &ack, &data, &read, &close,
    ];
    let mut more = client.clone();
    more.extend([&timers[..], &ack, &timers, &data, &timers]);
    let mut long = server.clone();
    for _ in 0..20 {
        long.extend([&data[..], &write, &ack, &timers]);
    }
    // The ACKs name old segments and SACK later ones.
    let mut holes = server.clone();
    let sack = |old: u8, later: u8| {
        vec![
            0, 0x51, old, 0, 0, 0, 0xff, 0xff, 0, 0x10, 1, 0, later, 0, 0,
        ]
    };
    let sacks: Vec<Vec<u8>> = (0..12).map(|n| sack(n / 3, 4 + n)).collect();
    for sack in &sacks {
        holes.extend([&write[..], sack]);
    }
    holes.push(&timers);
    vec![
        holes.concat(),
        server.concat(),
        client.concat(),
        more.concat(),
        long.concat(),
        (0..=255).collect(),
        (0..2000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect(),
    ]
}
