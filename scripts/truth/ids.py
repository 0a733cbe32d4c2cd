"""The analyser's words as this campaign expects them: the only file to edit when a finding or a class gets another name.

`ACCEPT`: what a kind of trouble is called here, and the finding ids that answer it (any of them is right). `CLASSES`: what
a part of the time budget is called here, and the classes of the analyser's budget that answer it.
"""

ACCEPT = {
    # trouble of the applications and the ends
    "slow_server": ("slow_server", "no_answer"),
    "no_answer": ("no_answer",),
    "slow_client": ("slow_client",),
    "delack_nagle": ("delack_nagle",),
    "delack_request_response": ("delack_request_response",),
    "quickack_exhausted": ("quickack_exhausted",),
    "zero_window": ("zero_window_stall",),
    "receive_window": ("receive_window_limited",),
    "window_scaling": ("window_scaling_off",),
    "send_buffer": ("send_buffer_limited",),
    "window_after_idle": ("window_after_idle",),
    "slow_start": ("slow_start",),
    "accept_queue": ("accept_queue_overflow",),
    "syn_retries": ("syn_retries",),
    "refused": ("refused",),
    "reset": ("reset",),
    "middlebox_reset": ("reset_by_middlebox",),
    "ignored_reset": ("reset_ignored",),
    "keepalive_death": ("keepalive_death",),
    "black_hole": ("black_hole",),
    "large_missing": ("large_packets_missing",),
    # trouble of the path
    "bufferbloat": ("bufferbloat",),
    "policer": ("policer",),
    "random_loss": ("random_loss", "loss"),
    "congestion_loss": ("congestion_loss", "loss"),
    "tail_loss": ("tail_loss",),
    "rto": ("rto_stall",),
    "spurious_rto": ("spurious_rto",),
    "ack_loss": ("ack_loss",),
    "ack_thinning": ("ack_thinning", "ack_loss"),
    "reordering": ("reordering", "spurious_retransmission_reordering"),
    "spurious_fast": ("spurious_retransmission_reordering", "reordering"),
    "duplication": ("duplication",),
    "option_removed": ("option_not_agreed",),
    "small_mss": ("small_mss",),
    # trouble of the capture
    "clock_step": ("capture_clock_step", "capture_artefacts"),
    "artefacts": ("capture_artefacts",),
}

CLASSES = {
    "handshake": ("handshake",),
    "server_thinks": ("server_thinks",),
    "server_pauses": ("server_thinks", "sender"),
    "client_thinks": ("client_thinks", "idle"),
    "delayed_ack": ("delayed_ack", "nagle"),
    "rto": ("rto", "tlp"),
    "recovery": ("rto", "tlp", "fast_recovery"),
    "spurious": ("spurious",),
    "fast_recovery": ("fast_recovery", "tlp"),
    "receive_window": ("receive_window", "zero_window"),
    "zero_window": ("zero_window", "receive_window"),
    "send_buffer": ("sender",),
    "under_way": ("path", "congestion_window", "pacing"),
    "stood_still": ("path", "spurious"),
}
UNKNOWN, IDLE = "unknown", "idle"


def accepted(name):
    """The finding ids that answer a kind of trouble."""
    return ACCEPT[name]


def kind_of():
    """For each finding id the kinds of trouble that it answers."""
    out = {}
    for name, ids in ACCEPT.items():
        for i in ids:
            out.setdefault(i, set()).add(name)
    return out


def budget(stream):
    """Seconds of each class of a stream, or nothing when the analyser gives no budget."""
    return {name: us / 1e6 for name, us in (stream.get("budget_us") or {}).items()}


def not_checked(capture):
    """The finding ids that a capture's answer says were not checked, wherever `not_checked` stands in it."""
    out = set()

    def collect(x):
        if isinstance(x, str):
            out.add(x)
        elif isinstance(x, list):
            for y in x:
                collect(y)
        elif isinstance(x, dict):
            for key in ("id", "ids", "detector", "finding", "findings"):
                collect(x.get(key))

    def walk(x):
        if isinstance(x, dict):
            for k, v in x.items():
                if k == "not_checked":
                    collect(v)
                else:
                    walk(v)
        elif isinstance(x, list):
            for y in x:
                walk(y)
    walk(capture)
    return out
