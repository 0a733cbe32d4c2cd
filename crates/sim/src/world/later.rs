//! Options that are set on open sockets during the run.

use std::sync::Arc;

use tcplab_plan::point::{QuickAck, SocketOptions};
use tcplab_tcp::{Cx, Endpoint};

use super::host::LEAST_CLAMP;
use super::net::Net;
use crate::socket::Socket;

impl Net {
    /// The next change of this application's sockets is made.
    #[cold]
    pub(super) fn sockets_change(&mut self, app: usize) {
        let point = Arc::clone(&self.point);
        let listener = &mut self.sockets.listeners[app];
        let number = listener.changed;
        listener.changed += 1;
        let Some(change) = point.apps[app].changes.get(number) else {
            return;
        };
        let side = usize::from(!change.of_clients);
        for end in (side..self.sockets.of.len()).step_by(2) {
            let sock = self.sockets.of[end];
            if usize::from(sock.app) != app || !matches!(sock.socket, Socket::Tcp(_)) {
                continue;
            }
            self.with(end, |e, cx| set(e, cx, &change.options));
            self.sockets.touched(&mut self.ready, end as u32);
            self.after_tcp(usize::from(sock.host));
        }
    }
}

/// In the order in which a kernel run sets them.
fn set(e: &mut Endpoint, cx: &mut Cx<'_>, options: &SocketOptions) {
    let seconds = |ns: i64| (ns / 1_000_000_000).max(1);
    if let Some(bytes) = options.rcvbuf {
        e.set_rcvbuf(cx, bytes, false);
    }
    if let Some(bytes) = options.sndbuf {
        e.set_sndbuf(cx, bytes, false);
    }
    if let Some(bytes) = options.rcvlowat {
        e.set_rcvlowat(cx, bytes);
    }
    if let Some(tos) = options.tos {
        e.set_tos(tos);
    }
    if let Some(on) = options.nodelay {
        e.set_nodelay(cx, on);
    }
    if let Some(bytes) = options.notsent_lowat {
        e.set_notsent_lowat(cx, bytes);
    }
    if let Some(on) = options.cork {
        e.set_cork(cx, on);
    }
    if let Some(ns) = options.linger2_ns {
        e.set_linger2(cx, seconds(ns) as i32);
    }
    if let Some(bytes) = options.window_clamp {
        e.set_window_clamp(cx, bytes.max(LEAST_CLAMP));
    }
    if options.linger.is_some() {
        e.set_linger(options.linger);
    }
    if let Some(bps) = options.max_pacing_rate_bps {
        let bytes = (bps / 8).clamp(1, u64::from(u32::MAX));
        e.set_max_pacing_rate(bytes as u32);
    }
    if let Some(ns) = options.user_timeout_ns {
        e.set_user_timeout((ns / 1_000_000).max(1) as u32);
    }
    if let Some(ns) = options.rto_min_ns {
        e.set_rto_min(cx, ns);
    }
    if let Some(ns) = options.delack_max_ns {
        e.set_delack_max(cx, ns);
    }
    if let Some(ns) = options.keepalive_ns {
        e.enable_keepalive(cx, true);
        let (_, _, probes) = e.keepalive_times(cx);
        let time = seconds(ns) as u32;
        e.set_keepalive_times(cx, (time, time, probes));
    }
    if let Some(name) = &options.congestion {
        // The point was checked: the model has it.
        e.set_congestion(cx, name);
    }
    if let QuickAck::Once(value) = options.quickack {
        e.set_quickack(cx, value);
    }
}
