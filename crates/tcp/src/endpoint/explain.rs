//! What a connection is about, in words for people: its state, what it waits for, and which timer comes next.

use tcplab_base::Instant;

use super::Endpoint;
use crate::cx::Cx;
use crate::options::Nagle;
use crate::timers::{NEVER, Pending};

impl Endpoint {
    /// The state, what holds data or ACKs back, and the timers that are set, each in a few words.
    pub fn explain(&self, cx: &Cx<'_>) -> Vec<String> {
        let mut words = vec![format!("{:?}", self.state)];
        if let Some(error) = self.error {
            words.push(format!("error {}", error.errno()));
        }
        self.explain_ack(cx, &mut words);
        self.explain_sending(cx, &mut words);
        self.explain_timers(cx, &mut words);
        words
    }

    fn explain_ack(&self, cx: &Cx<'_>, words: &mut Vec<String>) {
        let a = &self.ack;
        if self.ack.is_scheduled() {
            let timer = match self.timers.delack_at {
                NEVER => "no timer".to_owned(),
                at => format!("delayed-ACK timer at {}", later(cx.now, at)),
            };
            words.push(format!(
                "ACK held: {timer}, quick={}, pingpong={}",
                a.quick, a.pingpong
            ));
        }
        if self.timers.comp_sack_at != NEVER {
            let at = later(cx.now, self.timers.comp_sack_at);
            words.push(format!("{} SACKs held until {at}", a.compressed));
        }
    }

    fn explain_sending(&self, cx: &Cx<'_>, words: &mut Vec<String>) {
        let (s, l) = (&self.snd, &self.loss);
        let unsent = s.write_seq.distance(s.snd_nxt).max(0);
        words.push(format!(
            "cwnd {}, in flight {}, ssthresh {}, {:?}",
            s.snd_cwnd,
            l.in_flight(),
            s.snd_ssthresh,
            l.ca_state
        ));
        if l.lost_out > 0 || l.sacked_out > 0 || l.retrans_out > 0 {
            words.push(format!(
                "lost {}, sacked {}, retransmitted {}",
                l.lost_out, l.sacked_out, l.retrans_out
            ));
        }
        if unsent == 0 || !self.queue.has_unsent() {
            return;
        }
        let why = if l.in_flight() >= s.snd_cwnd {
            "cwnd is full".to_owned()
        } else if s.wnd_end() == s.snd_nxt {
            format!("window {}", s.snd_wnd)
        } else if s.wnd_end().before(s.write_seq) {
            format!("window {} is nearly full", s.snd_wnd)
        } else if self.timers.pacing_at != NEVER {
            format!("paced until {}", later(cx.now, self.timers.pacing_at))
        } else if self.options.nonagle.intersects(Nagle::CORK) {
            "TCP_CORK".to_owned()
        } else if !self.options.nonagle.intersects(Nagle::OFF) {
            "Nagle".to_owned()
        } else {
            "no reason known".to_owned()
        };
        words.push(format!("{unsent} bytes not sent: {why}"));
    }

    fn explain_timers(&self, cx: &Cx<'_>, words: &mut Vec<String>) {
        let what = match self.timers.pending {
            Pending::None => None,
            Pending::Retrans => Some("RTO"),
            Pending::Probe0 => Some("window probe"),
            Pending::LossProbe => Some("TLP"),
            Pending::ReoTimeout => Some("RACK's reordering timer"),
            Pending::SynAck => Some("SYN-ACK again"),
            Pending::EarlyRetrans => Some("early retransmit"),
        };
        if let (Some(what), true) = (what, self.timers.rexmit_at != NEVER) {
            words.push(format!(
                "{what} at {}",
                later(cx.now, self.timers.rexmit_at)
            ));
        }
        if self.timers.keepalive_at != NEVER {
            let at = later(cx.now, self.timers.keepalive_at);
            words.push(format!("keepalive timer at {at}"));
        }
    }
}

/// A time as it is from now.
fn later(now: Instant, at: Instant) -> String {
    let us = at.since(now).as_micros();
    format!(
        "{}{}.{:03} ms",
        if us < 0 { "-" } else { "+" },
        us.abs() / 1000,
        us.abs() % 1000
    )
}
