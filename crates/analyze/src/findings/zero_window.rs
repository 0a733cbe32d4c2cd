//! The receiver's window was zero and the sender had to wait (RFC 9293 3.8.6.1).

use tcplab_base::Duration;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, times};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("zero_window_stall"),
    severity: "high from 1 s, else medium",
    said_when: "The window was zero for 20 ms or more (50 ms in all); the sender probed or continued the moment the window opened",
    needs: &[],
    detect,
};

/// A shorter pause is no stall, unless there are so many of them.
const WORTH: Duration = Duration::from_millis(20);
const WORTH_IN_ALL: Duration = Duration::from_millis(50);

fn detect(side: &Side<'_>, out: &mut Found) {
    let found = find(side);
    // Nobody saw the windows, or not who waited for one.
    let blind = side.receiver.packets == 0 && side.sender.data_segments > 0;
    let closed = side.sender.packets == 0 && side.receiver.zero.is_some();
    if found.is_none() && (blind || closed) {
        out.cannot_tell(Need::BothDirections);
    }
    out.extend(found);
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let zero = side.receiver.zero.as_deref()?;
    let mut stalls = u64::from(zero.stalls);
    let mut stalled = zero.stalled;
    let mut longest = zero.longest;
    let mut numbers = zero.packets.clone();
    if let Some((since, number)) = zero.since.filter(|_| zero.probed) {
        // Still closed when the capture or the connection ended.
        let open_end = side.connection.last.since(since);
        stalls += 1;
        stalled = stalled + open_end;
        longest = longest.max(open_end);
        numbers.push(number);
    }
    if longest < WORTH && stalled < WORTH_IN_ALL {
        return None;
    }
    let severity = if stalled >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = side.finding(DETECTOR.id, severity);
    numbers.dedup();
    f.packets = packets(numbers);
    f.title = format!(
        "{} waited {} for the program on {} to read ({}{})",
        side.sender_end.ip,
        length(stalled),
        side.receiver_end.ip,
        times(stalls),
        match stalls {
            1 => String::new(),
            _ => format!(", up to {}", length(longest)),
        }
    );
    f.cause = format!(
        "The program on {} does not read as fast as {} sends: its receive buffer was full and it \
         advertised a zero window. TCP and the network are not the bottleneck.",
        side.receiver_end, side.sender_end
    );
    let probes = side
        .sender
        .rare
        .as_deref()
        .map_or(0, |r| r.zero_window_probes);
    if probes > 0 {
        f.cause += &format!(
            " {} asked {} whether it is open again (window probes, RFC 9293 3.8.6.1: the wait doubles each time).",
            side.sender_end.ip,
            times(probes.into())
        );
    }
    f.remedy = vec![
        format!(
            "Find out what the program on {} waits for: CPU, disk, a lock, a slow peer of its own.",
            side.receiver_end.ip
        ),
        "If it reads in bursts, give it a larger receive buffer: net.ipv4.tcp_rmem or SO_RCVBUF."
            .to_owned(),
    ];
    Some(f)
}
