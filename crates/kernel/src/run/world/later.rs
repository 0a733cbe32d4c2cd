//! What changes during a run: settings of links, sysctls of hosts, options of sockets.

use tcplab_base::Duration;
use tcplab_os::OsError;
use tcplab_os::options;
use tcplab_plan::buffer_limits::limited;

use super::Net;
use crate::run::host::Sysctls;
use crate::run::links::OurLink;
use crate::run::socket;
use crate::run::timers::Timer;

impl Net<'_> {
    /// Sets the times at which settings of our links, of hosts and of sockets change.
    pub(super) fn set_changes(&mut self) {
        let links = self.links.iter().enumerate();
        let of = |(number, link): (usize, &Option<OurLink>)| {
            let changes = link.as_ref().map(OurLink::changes).unwrap_or_default();
            changes
                .into_iter()
                .map(move |(way, at)| (2 * number + way, at))
        };
        let all: Vec<(usize, Duration)> = links.flat_map(of).collect();
        for (way, at) in all {
            self.timers.set(self.start + at, Timer::Change(way));
        }
        for (host, settings) in self.point.hosts.iter().enumerate() {
            for (number, change) in settings.changes.iter().enumerate() {
                let at = self.start + Duration::from_nanos(change.at_ns);
                self.timers.set(at, Timer::Sysctl(host, number));
            }
        }
        for (app, settings) in self.point.apps.iter().enumerate() {
            for (number, change) in settings.changes.iter().enumerate() {
                let at = self.start + Duration::from_nanos(change.at_ns);
                self.timers.set(at, Timer::Sockets(app, number));
            }
        }
    }

    pub(super) fn sockets_change(&mut self, app: usize, number: usize) -> Result<(), OsError> {
        let change = &self.point.apps[app].changes[number];
        let side = usize::from(!change.of_clients);
        let of_side = self.sockets.iter().skip(side).step_by(2);
        for sock in of_side.filter(|sock| sock.app == app) {
            if let Some(fd) = sock.tcp() {
                socket::changes(fd, &change.options)?;
                let limits = options::limits(fd, &change.options);
                let name = &self.point.apps[app].name;
                for words in limited(name, change.of_clients, &change.options, limits) {
                    if !self.warnings.contains(&words) {
                        self.warnings.push(words);
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn host_changes(&mut self, host: usize, number: usize) -> Result<(), OsError> {
        let settings = &self.point.hosts[host];
        let change = &settings.changes[number];
        self.network.hosts[host].enter()?;
        let mut sysctls = Sysctls::new(self.point);
        sysctls.set(&settings.name, &change.name, &change.value)?;
        self.left_out.append(&mut sysctls.left_out);
        Ok(())
    }

    pub(super) fn link_changes(&mut self, way: usize) -> Result<(), OsError> {
        let now = self.time().read();
        if let Some(link) = &mut self.links[way / 2] {
            link.change(way % 2, now)?;
        }
        self.give_out(way / 2)
    }
}
