//! An idle endpoint to and from its packed form.

use super::{Pack, Packer, Unpacker, packed, packed_enum};
use crate::cc::CongestionControl;
use crate::endpoint::{Endpoint, RcvQueue, RcvSkb, State};
use crate::segment::Addr;
use crate::timers::{NEVER, Timers};

packed!(Addr { host, port });
packed_enum!(State {
    Established,
    SynSent,
    SynRecv,
    FinWait1,
    FinWait2,
    TimeWait,
    Close,
    CloseWait,
    LastAck,
    Closing
});

impl Endpoint {
    /// Nothing is queued or in flight, only the keepalive timer may run, and all of its state can be packed.
    pub(crate) fn is_idle(&self) -> bool {
        let stands = matches!(
            self.state,
            State::Established | State::CloseWait | State::FinWait2
        );
        let empty = self.queue.is_empty() && self.rcvq.ready.is_empty() && self.rcvq.ofo.is_empty();
        let errors = self.error.is_some() || self.error_soft.is_some();
        stands
            && empty
            && !errors
            && self.mtup.is_none()
            && self.request.is_none()
            && self.latency.is_none()
            && self.time_wait.is_none()
            && self.cc.is_packable()
            && self.timers.are_off()
    }

    /// Bytes of memory of its queues and other parts stored outside of it.
    pub(crate) fn queued_memory(&self) -> usize {
        let received = self.rcvq.ready.capacity() + self.rcvq.ofo.capacity();
        self.queue.memory() + received * size_of::<RcvSkb>() + self.cc.memory()
    }

    /// Packs all of an endpoint that [`is_idle`](Self::is_idle).
    pub(crate) fn pack(&self, like: &Self, to: &mut Packer) {
        let Self {
            local,
            remote,
            state,
            shutdown,
            owner,
            error: _,
            error_soft: _,
            time_wait: _,
            options,
            neg,
            snd,
            queue,
            rcv,
            rcvq,
            ack,
            rtt,
            loss,
            rack,
            cc,
            tune,
            timers,
            stats,
            mtup: _,
            request: _,
            latency: _,
        } = self;
        // First, see next_of().
        timers.pack(&like.timers, to);
        local.pack(&like.local, to);
        remote.pack(&like.remote, to);
        state.pack(&like.state, to);
        shutdown.pack(&like.shutdown, to);
        owner.pack(&like.owner, to);
        options.pack(&like.options, to);
        neg.pack(&like.neg, to);
        // Those with sequence numbers of the same direction are neighbours.
        queue.base().pack(&like.queue.base(), to);
        loss.pack(&like.loss, to);
        rtt.pack(&like.rtt, to);
        rack.pack(&like.rack, to);
        cc.pack(&like.cc, to);
        tune.pack(&like.tune, to);
        snd.pack(&like.snd, to);
        rcv.pack(&like.rcv, to);
        rcvq.pack(&like.rcvq, to);
        ack.pack(&like.ack, to);
        stats.pack(&like.stats, to);
    }

    /// Takes the place of another idle endpoint, whose queues keep their memory.
    pub(crate) fn unpack(&mut self, like: &Self, from: &mut Unpacker<'_>) {
        self.timers = Pack::unpack(&like.timers, from);
        self.local = Pack::unpack(&like.local, from);
        self.remote = Pack::unpack(&like.remote, from);
        self.state = Pack::unpack(&like.state, from);
        self.shutdown = Pack::unpack(&like.shutdown, from);
        self.owner = Pack::unpack(&like.owner, from);
        self.options = Pack::unpack(&like.options, from);
        self.neg = Pack::unpack(&like.neg, from);
        self.queue.begin_at(Pack::unpack(&like.queue.base(), from));
        self.loss = Pack::unpack(&like.loss, from);
        self.rtt = Pack::unpack(&like.rtt, from);
        self.rack = Pack::unpack(&like.rack, from);
        self.cc = Pack::unpack(&like.cc, from);
        self.tune = Pack::unpack(&like.tune, from);
        self.snd = Pack::unpack(&like.snd, from);
        self.rcv = Pack::unpack(&like.rcv, from);
        self.rcvq.unpack(&like.rcvq, from);
        self.ack = Pack::unpack(&like.ack, from);
        self.stats = Pack::unpack(&like.stats, from);
        self.mtup = None;
        self.latency = None;
    }

    /// [`Endpoint::next_timer`] of a packed one.
    pub(crate) fn next_of(like: &Self, packed: &[u8]) -> Option<tcplab_base::Instant> {
        let timers = Timers::unpack(&like.timers, &mut Unpacker::new(packed));
        (timers.keepalive_at != NEVER).then_some(timers.keepalive_at)
    }
}

impl RcvQueue {
    fn pack(&self, like: &Self, to: &mut Packer) {
        let Self {
            ready: _,
            ofo: _,
            dsack,
            dsack_start,
            sacks,
            num_sacks,
        } = self;
        dsack.pack(&like.dsack, to);
        dsack_start.pack(&like.dsack_start, to);
        num_sacks.pack(&like.num_sacks, to);
        sacks.pack(&like.sacks, to);
    }

    fn unpack(&mut self, like: &Self, from: &mut Unpacker<'_>) {
        self.dsack = Pack::unpack(&like.dsack, from);
        self.dsack_start = Pack::unpack(&like.dsack_start, from);
        self.num_sacks = Pack::unpack(&like.num_sacks, from);
        self.sacks = Pack::unpack(&like.sacks, from);
    }
}
