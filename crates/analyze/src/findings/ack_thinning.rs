//! ACKs that a queue dropped: an ACK filter (CAKE, cable modems, satellite links), or a full queue on a slow return
//! path.
//!
//! Lost ACKs leave gaps in time: the more numbers are missing, the longer the time to the next ACK. An ACK filter
//! keeps ACKs in a queue and passes one of several, so the next one follows after the same time, regardless of the
//! number dropped. Several connections in one queue hide this; `ack_loss` then reports the missing ACKs.

use super::ack_loss::Thinned;
use super::{Detector, Finding, Id, Need, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("ack_thinning"),
    severity: "medium if a quarter of the ACKs or more are missing, else info",
    said_when: "As `ack_loss`, but missing numbers do not lengthen the time between ACKs: an ACK filter or a full queue on the way back removed waiting ACKs",
    needs: &[Need::Data, Need::BothDirections, Need::EveryPacket],
    detect: |side, out| {
        let found = Thinned::look(side, out).filter(is_filter);
        out.extend(found.map(|t| finding(side, t)));
    },
};

/// Lost ACKs have about 1, those that a filter took out of the line of a single connection about 0 or less.
const TIMELESS: f64 = 0.3;

pub(super) fn is_filter(t: &Thinned) -> bool {
    t.power.is_some_and(|p| p <= TIMELESS)
}

fn finding(side: &Side<'_>, t: Thinned) -> Finding {
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(DETECTOR.id, t.severity());
    let each = f64::from(t.all) / f64::from((t.all - t.lost).max(1));
    f.title = format!(
        "the way from {b} to {a} thins ACKs out: at least {} of {} are missing ({:.1} %), one of {each:.1} comes through",
        t.lost,
        t.all,
        t.share()
    );
    f.cause = format!(
        "{b} numbers its packets, and numbers are missing. The ACKs that arrive follow each other in the same time, however \
         many are missing between them: they waited in line, and only some were let through. An ACK filter does that \
         (CAKE's `ack-filter`, some cable modems and satellite links), and so does a queue that is full. TCP copes with it, \
         because each ACK covers all before; {a} then sends in larger bursts."
    );
    f.remedy = vec![
        format!(
            "The way from {b} to {a} carries fewer packets than {b} sends ACKs. If downloads are as fast as they should \
             be, leave it."
        ),
        format!(
            "If not: look for the queue (`tc -s qdisc` on the way shows `ack_drop` and `dropped`), and give the way back \
             more rate, or let {b} send fewer ACKs (GRO on its interface: `ethtool -K DEVICE gro on`)."
        ),
    ];
    f
}
