//! What arrives: dispatch by state, validation, data, window and buffer of the receiver.
//!
//! - `established.rs`: header prediction and the slow path; `states.rs`: the other states
//! - `validate.rs`: which segments are acceptable; `paws.rs`: time stamps; `ecn.rs`: congestion
//!   marks
//! - `data.rs`: in-order data and FIN; `ofo.rs`: out-of-order data; `sack.rs`: the blocks to send
//! - `memory.rs`: the memory of queued frames; `prune.rs`: frees memory above the limit
//! - `window.rs`: the window to offer; `buffer.rs`: its upper limit; `autotune.rs`: how the buffer
//!   grows
//! - `urgent.rs`: urgent data; `read.rs`: the socket's side

mod autotune;
mod buffer;
mod data;
mod ecn;
mod established;
mod memory;
mod ofo;
mod paws;
mod prune;
mod read;
mod sack;
mod states;
mod syn_sent;
mod urgent;
mod validate;
mod window;

pub(crate) use syn_sent::{in_window, paws_reject};

use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use crate::segment::{Caqm, Segment};
use crate::stack::reply_reset;

impl Endpoint {
    /// A segment for this connection (`tcp_v4_do_rcv()`, `tcp_rcv_established()`, `tcp_rcv_state_process()`).
    #[inline]
    pub fn on_segment(&mut self, cx: &mut Cx<'_>, seg: &Segment) {
        self.ack.note_clock(cx);
        match self.state {
            State::SynSent => return self.on_segment_syn_sent(cx, seg),
            State::Close | State::TimeWait => return,
            _ => {}
        }
        if seg.caqm != Caqm::Plain {
            self.caqm_arrives(cx, seg);
        }
        if self.state == State::Established {
            self.rcv_established(cx, seg);
        } else if self.rcv_other_states(cx, seg) {
            reply_reset(cx, seg);
        }
    }
}
