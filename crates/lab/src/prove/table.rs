//! Which findings have an experiment, and which cures it tries: a row each.

use super::conversation::{Conversation, ONE_BURST_NS};
use super::figure::Figure;
use tcplab_plan::app::Message;

/// What can be done about a finding.
pub(super) enum How {
    /// An experiment with these cures.
    Try(Experiment),
    /// Nothing, and why.
    Cannot(&'static str),
}

/// How a finding is repeated.
pub(super) struct Experiment {
    /// The stack on which the finding is expected.
    pub stack: &'static str,
    /// Real kernels for the same, as `tcplab run --on` takes them.
    pub kernels: &'static str,
    /// What is compared, the first one that the capture has.
    pub figures: &'static [Figure],
    /// The cures, in the order of the remedies.
    pub cures: &'static [Cure],
}

/// One cure.
pub(super) struct Cure {
    /// The variant's name; without one, the file as it is, on another stack.
    pub variant: &'static str,
    /// In words; `{sender}` and `{receiver}` are the addresses of the ends.
    pub words: &'static str,
    pub does: Does,
}

/// What a cure changes.
pub(super) enum Does {
    /// Values of the experiment: paths with `{sender}` and `{receiver}` for the hosts, and values in TOML.
    Set(&'static [(&'static str, &'static str)]),
    /// The messages themselves.
    Messages(fn(&Conversation) -> Vec<Message>),
    /// The stack.
    Stack(&'static str),
}

const ROUTE: Cure = Cure {
    variant: "quickack-route",
    words: "`ip route ... quickack 1` on {receiver}",
    does: Does::Set(&[("host.{receiver}.route", "\"quickack 1\"")]),
};

const NO_RESET: Cure = Cure {
    variant: "no-idle-reset",
    words: "`net.ipv4.tcp_slow_start_after_idle=0` on {sender}",
    does: Does::Set(&[(
        "host.{sender}.sysctl.net.ipv4.tcp_slow_start_after_idle",
        "0",
    )]),
};

const REPEAT: &str = "model:linux-6.1";
const KERNEL: &str = "uml:6.1";

const ONE_WRITE: Cure = Cure {
    variant: "one-write",
    words: "each message in one write",
    does: Does::Messages(joined),
};

const NODELAY: Cure = Cure {
    variant: "nodelay",
    words: "TCP_NODELAY on {sender}",
    does: Does::Set(&[("app.messages.{sender}_socket.nodelay", "true")]),
};

const INITCWND_10: Cure = Cure {
    variant: "initcwnd-10",
    words: "an initial window of 10 on {sender}",
    does: Does::Set(&[("host.{sender}.route", "\"initcwnd 10\"")]),
};

const QUICKACK_EACH: Cure = Cure {
    variant: "quickack-each",
    words: "TCP_QUICKACK before each read on {receiver}",
    does: Does::Set(&[("app.messages.{receiver}_socket.quickack", "\"each 1\"")]),
};

/// How the finding of this name is proved.
pub(super) fn how(id: &str) -> How {
    match id {
        "delack_nagle" => turns(&[ONE_WRITE, NODELAY, ROUTE]),
        "delack_request_response" => turns(&[INITCWND_10, NO_RESET, ROUTE]),
        "quickack_exhausted" => How::Try(Experiment {
            stack: "model:linux-6.1.56",
            kernels: "uml:6.1+quickack-6.1.56,uml:6.1",
            figures: &[Figure::Acks],
            cures: &[
                Cure {
                    variant: super::AS_IS,
                    words: "a kernel with the fix on {receiver}",
                    does: Does::Stack(REPEAT),
                },
                ROUTE,
                QUICKACK_EACH,
            ],
        }),
        "window_after_idle" => transfers(&[NO_RESET]),
        "slow_start" => transfers(&[Cure {
            variant: "initcwnd-20",
            words: "an initial window of 20 on {sender}",
            does: Does::Set(&[("host.{sender}.route", "\"initcwnd 20\"")]),
        }]),
        "receive_window_limited" => transfers(&[Cure {
            variant: "larger-buffer",
            words: "`net.ipv4.tcp_rmem='4096 131072 33554432'` on {receiver}, whose program must not set SO_RCVBUF",
            does: Does::Set(&[(
                "host.{receiver}.sysctl.net.ipv4.tcp_rmem",
                "\"4096 131072 33554432\"",
            )]),
        }]),
        "window_scaling_off" => transfers(&[Cure {
            variant: "scaling",
            words: "window scaling at both ends",
            does: Does::Set(&[
                ("host.{sender}.sysctl.net.ipv4.tcp_window_scaling", "1"),
                ("host.{receiver}.sysctl.net.ipv4.tcp_window_scaling", "1"),
            ]),
        }]),
        _ => How::Cannot(why_not(id)),
    }
}

/// A transfer that waits for windows.
fn transfers(cures: &'static [Cure]) -> How {
    on_the_model(&[Figure::Transfers], cures)
}

/// Requests that wait for delayed ACKs.
fn turns(cures: &'static [Cure]) -> How {
    on_the_model(&[Figure::Requests, Figure::Parts], cures)
}

fn on_the_model(figures: &'static [Figure], cures: &'static [Cure]) -> How {
    How::Try(Experiment {
        stack: REPEAT,
        kernels: KERNEL,
        figures,
        cures,
    })
}

/// Losses are the path's, and a capture shows which: an experiment can set them.
pub(super) const LOST: &str = "the experiment does not include the path's losses; set `loss` or `drop` in one of your own \
     (`tcplab new two-hosts`)";

/// Why there is no experiment of a finding.
fn why_not(id: &str) -> &'static str {
    match id {
        "rto_stall"
        | "tail_loss"
        | "black_hole"
        | "syn_retries"
        | "loss"
        | "random_loss"
        | "congestion_loss"
        | "ack_loss"
        | "duplication"
        | "large_packets_missing" => LOST,
        "spurious_rto" | "spurious_retransmission_reordering" | "reordering" => {
            "the experiment does not include the path's varying delays; set `spikes` or `jitter` in one of your own \
             (`tcplab new two-hosts`)"
        }
        "path_mtu" | "unreachable" => "the experiment does not include the path's routers",
        "bufferbloat" => {
            "the experiment does not include the path's rate and queue; set `rate` and `limit` in one of your own \
             (`tcplab new two-hosts`)"
        }
        "slow_server" | "slow_client" | "no_answer" => {
            "the program waits, not TCP: the experiment replays its pauses"
        }
        "send_buffer_limited" => {
            "a capture cannot distinguish a small send buffer from a fixed congestion window"
        }
        "accept_queue_overflow" | "refused" | "time_wait_reuse" => {
            "the experiment does not include the listener and the program"
        }
        "keepalive_death" | "reset" | "reset_by_middlebox" => {
            "the experiment does not include the cause of the connection's end"
        }
        "reset_ignored" => "a RST that is ignored costs nothing",
        "option_not_agreed" => "the experiment does not include the device that removed the option",
        "zero_window_stall" => {
            "the capture does not show when the program reads; a larger buffer only bridges its pauses"
        }
        "capture_artefacts" => "the finding is about the capture, not about TCP",
        caqm if caqm.starts_with("caqm_") => "the experiment does not include the path's switches",
        _ => "no experiment exists for this finding yet",
    }
}

/// What was written in several parts at once, in one.
fn joined(conversation: &Conversation) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    for message in &conversation.messages {
        match all.last_mut() {
            Some(last)
                if last.from_client == message.from_client && message.after_ns <= ONE_BURST_NS =>
            {
                last.bytes += message.bytes;
            }
            _ => all.push(*message),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_an_experiment_or_a_reason() {
        for id in tcplab_analyze::findings::ids() {
            match how(id.name()) {
                How::Try(experiment) => {
                    assert!(!experiment.cures.is_empty() && !experiment.figures.is_empty());
                }
                How::Cannot(why) => assert!(!why.is_empty() && !why.ends_with('.')),
            }
        }
    }
}
