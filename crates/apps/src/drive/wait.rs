//! How long an end waits for its socket: `client_timeout` and `server_timeout` ([`crate::patience`]).

use tcplab_base::{Duration, Errno, Instant};

use super::Drive;
use super::end::UNKNOWN;
use super::host::{Host, Timer};
use crate::doing::Wants;
use crate::patience::{Awaited, Stepped};

impl Drive {
    /// What a step means for the time that an end waits; `before`: what it waited for, and the bytes read and written.
    #[cold]
    #[inline(never)]
    pub(super) fn stepped<H: Host>(
        &mut self,
        host: &mut H,
        index: usize,
        wants: Wants,
        before: (Awaited, (u64, u64)),
    ) {
        if wants == Wants::Reconnect {
            // A new connection waits already.
            return;
        }
        let end = &self.ends[index];
        let (before, (read, written)) = before;
        let step = Stepped {
            before,
            after: wants.awaited(),
            read: end.read > read,
            wrote: end.written > written,
            is_owed: end.program.is_owed(),
        };
        self.gives_up_after(host, index, |old, now, timeout| {
            step.gives_up_at(old, now, timeout)
        });
    }

    /// Sets when an end gives up. One timer is set for each end; when it comes too early it is set again.
    pub(super) fn gives_up_after<H: Host>(
        &mut self,
        host: &mut H,
        index: usize,
        at: impl FnOnce(Option<Instant>, Instant, Duration) -> Option<Instant>,
    ) {
        let end = &mut self.ends[index];
        let app = &self.point.apps[end.app as usize];
        let Some(timeout) = app.timeout_ns(end.is_client) else {
            return;
        };
        let old = Some(end.gives_up_at).filter(|at| *at != UNKNOWN);
        let at = at(old, host.now(), Duration::from_nanos(timeout));
        end.gives_up_at = at.unwrap_or(UNKNOWN);
        if let Some(at) = at
            && !std::mem::replace(&mut end.is_timed, true)
        {
            host.set(at, Timer::Idle(index as u32));
        }
    }

    /// An end gives up when it has waited for its socket until now.
    #[cold]
    #[inline(never)]
    pub(super) fn may_give_up<H: Host>(&mut self, host: &mut H, index: usize) {
        let end = &mut self.ends[index];
        end.is_timed = false;
        if end.gives_up_at == UNKNOWN {
            return;
        }
        if end.gives_up_at > host.now() {
            end.is_timed = true;
            return host.set(end.gives_up_at, Timer::Idle(index as u32));
        }
        let (end, mut call) = self.call(host, index);
        end.fail(&mut call, Errno::ETIME);
        self.changed(index);
        self.close(host, index);
    }
}
