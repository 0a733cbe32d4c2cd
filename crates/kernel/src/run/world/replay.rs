//! The replays of a run: opened, sent, told of.

use std::path::Path;

use tcplab_guest::replay::load_from;
use tcplab_os::OsError;
use tcplab_plan::network::{direct_link, interface_on};

use super::Net;
use crate::run::replay::Replay;

impl Net<'_> {
    /// Opens the replays of the point, whose frames lie in the run's folder.
    pub(super) fn open_replays(&mut self, folder: &Path) -> Result<(), OsError> {
        for (number, trace) in load_from(folder, self.point).map_err(OsError::Cannot)? {
            let app = &self.point.apps[number];
            let end = self.sockets.iter().position(|sock| sock.app == number);
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

    /// What a replay could not do.
    pub(super) fn tell_of_replays(&mut self) {
        for replay in self.replays.iter().filter(|replay| replay.refused > 0) {
            let app = &self.point.apps[self.sockets[replay.end].app];
            self.warnings.push(format!(
                "application {}: {} frames were not sent, for as many waited as the kernel allows a socket \
                 (net.core.wmem_max)",
                app.name, replay.refused
            ));
        }
    }
}
