//! The clock of the capturing host was set while it captured: what times say is wrong from there on.

use super::{
    Detector, Finding, Id, Need, Severity, Side, artefacts, duplication, length, options, refused,
    reset, time_wait_reuse,
};
use crate::conn::Step;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("capture_clock_step"),
    severity: "info",
    said_when: "The capture's clock went back by 100 ms or more from one packet of an end to a later one, and stayed there. Or the clock jumped ahead: by the time stamps of both ends, at least 500 ms less had passed",
    needs: &[],
    detect: |side, out| {
        if side.is_a() {
            out.extend(side.connection.clock_step().map(|step| finding(side, step)));
        }
    },
};

/// Times, by a clock that runs evenly, for findings that go by times.
pub(super) fn needed_by(id: Id) -> &'static [Need] {
    let timeless = [
        artefacts::DETECTOR.id,
        options::DETECTOR.id,
        refused::DETECTOR.id,
        reset::BY_MIDDLEBOX.id,
        reset::BY_END.id,
        reset::IGNORED.id,
        time_wait_reuse::DETECTOR.id,
    ];
    if timeless.contains(&id) {
        &[]
    } else if id == DETECTOR.id || id == duplication::DETECTOR.id {
        &[Need::PacketTimes]
    } else {
        &[Need::PacketTimes, Need::SteadyClock]
    }
}

fn finding(side: &Side<'_>, step: Step) -> Finding {
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = vec![step.packet];
    let by = length(step.by);
    let (way, then) = if step.back {
        (
            "back",
            "Times behind it are moved here, so that the clock goes on where it was; how long the step itself took is not \
             known.",
        )
    } else {
        (
            "ahead",
            "The skipped time is in no class of the time budget. Findings that depend on times are not checked in this stream.",
        )
    };
    f.title = format!(
        "the capture's clock was set {way} by {by} at packet {}",
        step.packet
    );
    let shows = if step.back {
        "This packet and the following ones were sent after packets with later times."
    } else {
        "The TCP time stamps of both ends show that much less time passed."
    };
    f.cause = format!(
        "{shows} Something set the clock of the capturing host meanwhile (NTP, a person, a virtual machine that went on). {then}"
    );
    f.remedy = vec![
        "Let the clock settle before a capture (`chronyc waitsync`), or let it slew instead of step (`makestep` in \
         chrony.conf)."
            .to_owned(),
    ];
    f
}
