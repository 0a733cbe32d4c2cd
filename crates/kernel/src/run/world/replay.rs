//! The replays of a run: opened, sent, told of.

use std::path::Path;

use tcplab_apps::Doing;
use tcplab_base::Instant;
use tcplab_plan::network::{direct_link, interface_on};

use super::World;
use crate::replay::load_from;
use crate::run::error::RunError;
use crate::run::replay::Replay;
use crate::run::timers::Timer;

impl World<'_> {
    /// Opens the replays of the point, whose frames lie in the run's folder.
    pub(super) fn open_replays(&mut self, folder: &Path) -> Result<(), RunError> {
        for (number, trace) in load_from(folder, self.point).map_err(RunError::Cannot)? {
            let app = &self.point.apps[number];
            let end = self.apps.ends.iter().position(|end| end.app == number);
            let link = direct_link(&self.point.links, app.client, app.server);
            let (Some(end), Some(link)) = (end, link) else {
                continue;
            };
            self.network.hosts[app.client].enter()?;
            let interface = interface_on(self.point, app.client, link);
            self.replays.push(Replay::open(end, &interface, trace)?);
        }
        Ok(())
    }

    pub(super) fn is_replay(&self, end: usize) -> bool {
        self.replays.iter().any(|replay| replay.end == end)
    }

    pub(super) fn begin_replay(&mut self, end: usize, now: Instant) -> Result<(), RunError> {
        if let Some(replay) = self.replays.iter_mut().find(|replay| replay.end == end) {
            replay.begin(now);
        }
        self.apps.ends[end].out.opened_ns = Some(self.at(now));
        self.replay(end, now)
    }

    /// Sends what is due, and arranges for the rest.
    pub(super) fn replay(&mut self, end: usize, now: Instant) -> Result<(), RunError> {
        let Some(replay) = self.replays.iter_mut().find(|replay| replay.end == end) else {
            return Ok(());
        };
        let sent = replay.send(now)?;
        let at = self.at(now);
        let of = &mut self.apps.ends[end];
        of.out.written_bytes += sent.bytes;
        of.program.count(sent.frames);
        match sent.next {
            Some(next) => {
                of.doing = Doing::Sleeping;
                self.timers.set(next, Timer::Wake(end, of.sleeps));
            }
            None => {
                of.doing = Doing::Over;
                of.out.closed_ns = Some(at);
            }
        }
        Ok(())
    }

    /// What a replay could not do.
    pub(super) fn tell_of_replays(&mut self) {
        for replay in self.replays.iter().filter(|replay| replay.refused > 0) {
            let app = &self.point.apps[self.apps.ends[replay.end].app];
            self.warnings.push(format!(
                "application {}: {} frames were not sent, for as many waited as the kernel allows a socket \
                 (net.core.wmem_max)",
                app.name, replay.refused
            ));
        }
    }
}
