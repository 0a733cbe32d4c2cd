//! The connection that a request becomes (Linux `tcp_create_openreq_child()`, `tcp_v4_syn_recv_sock()`,
//! `tcp_synack_rtt_meas()`).

use super::listener::Listener;
use super::request::Request;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, MSS_DEFAULT, Owner, Path, State};
use crate::mib::Counter;
use crate::options::Ecn;
use crate::segment::Segment;

/// Makes the endpoint; it is in SYN-RECEIVED and gets `seg`, the ACK of the SYN-ACK, next.
pub(crate) fn make(cx: &mut Cx<'_>, req: &Request, listener: &Listener, seg: &Segment) -> Endpoint {
    let open = &listener.options;
    let mut ep = Endpoint::new(cx, (req.local, req.remote), open);
    ep.set_buffers(listener.buffers);
    ep.loss.reordering = listener.reordering;
    if let Some(socket) = &listener.socket {
        ep.inherit(socket);
    }
    ep.state = State::SynRecv;
    ep.owner = Owner::Listener;
    sequence_space(&mut ep, req);
    negotiated(cx, &mut ep, req);
    windows(&mut ep, req, seg);
    let now = cx.jiffies32();
    ep.ack.lrcvtime = now;
    ep.snd.lsndtime = now;
    ep.stats.segs_in = 1;
    ep.stats.total_retrans = u32::from(req.num_retrans);
    if ep.options.keepalive {
        let idle = ep.keepalive_time(cx);
        ep.timers.arm_keepalive(cx, idle);
    }
    if req.num_timeout > 0 {
        ep.loss.undo_marker = Some(req.snt_isn);
        ep.loss.retrans_stamp = (req.snt_synack_us / 1000) as u32;
    }
    // A SYN with data has longer options than what follows.
    let len = (seg.header_len() + seg.len).saturating_sub(ep.neg.header_len());
    if len >= u32::from(MSS_DEFAULT) {
        ep.ack.last_seg_size = len.min(65_535) as u16;
    }
    ep.options.tos = req.tos & !3;
    let name = Endpoint::wanted_cc(cx, open).to_owned();
    ep.cc_init(cx, &name);
    let path = Path::of(cx, seg.src.host, listener.mtu);
    ep.sync_mss(cx, path.mtu);
    ep.rcv.advmss = ep.clamp_advmss(path.advmss);
    ep.ack.initialize_rcv_mss(&ep.rcv, &ep.snd);
    cx.count(Counter::PassiveOpens);
    if let (true, Some((tsval, _))) = (req.tstamp_ok, seg.options.timestamps)
        && !seg.seq.after(req.rcv_isn + 1)
    {
        ep.neg.ts_recent = tsval;
    }
    // RFC 6298 3, Karn: no sample when the SYN-ACK was sent again.
    let us = req.synack_rtt(cx);
    if us.is_some() {
        ep.rtt.handshake(cx, &ep.neg, &ep.snd, us);
    }
    ep
}

fn sequence_space(ep: &mut Endpoint, req: &Request) {
    let first = req.rcv_isn + 1;
    ep.rcv.rcv_wup = first;
    ep.rcv.copied_seq = first;
    ep.rcv.rcv_nxt = first;
    let s = &mut ep.snd;
    s.iss = req.snt_isn;
    let first = req.snt_isn + 1;
    s.snd_sml = first;
    s.snd_una = first;
    s.snd_nxt = first;
    s.snd_up = first;
    s.write_seq = first;
    s.pushed_seq = first;
    s.snd_wl1 = req.rcv_isn;
}

fn negotiated(cx: &Cx<'_>, ep: &mut Endpoint, req: &Request) {
    let n = &mut ep.neg;
    n.tstamp_ok = req.tstamp_ok;
    n.sack_ok = req.sack_ok;
    n.wscale_ok = req.wscale_ok;
    n.tsoffset = req.ts_off;
    if req.tstamp_ok {
        n.ts_recent = req.ts_recent;
        n.ts_recent_stamp = cx.seconds();
    }
    // The kernel's copy of the listener's bits, which lack ECN.
    let loses = cx.host.sysctl.sysctl_caqm_enable && cx.host.profile.caqm_child_loses_ecn;
    n.ecn_flags = req.caqm;
    n.ecn_flags.set(Ecn::OK, req.ecn_ok && !loses);
}

fn windows(ep: &mut Endpoint, req: &Request, seg: &Segment) {
    ep.rcv.window_clamp = req.window_clamp;
    ep.rcv.rcv_ssthresh = req.rcv_wnd;
    ep.rcv.rcv_wnd = req.rcv_wnd;
    match req.wscale_ok {
        true => {
            ep.snd.snd_wscale = req.snd_wscale;
            ep.snd.rcv_wscale = req.rcv_wscale;
        }
        false => ep.rcv.window_clamp = ep.rcv.window_clamp.min(65_535),
    }
    ep.snd.snd_wnd = u32::from(seg.window) << ep.snd.snd_wscale;
    ep.snd.max_window = ep.snd.snd_wnd;
    ep.snd.mss_clamp = req.mss;
}
