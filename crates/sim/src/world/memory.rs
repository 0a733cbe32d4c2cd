//! The memory that a world's connections take.

use super::World;
use crate::end::End;

impl World {
    /// Bytes that are allocated now for connections: the TCP of all hosts, sockets, applications and events. Packets on
    /// their way are not in it, nor what an allocator needs beside.
    pub fn memory(&self) -> usize {
        let hosts: usize = self.hosts.iter().map(|host| host.memory()).sum();
        hosts + self.apps.memory() + self.events.memory()
    }
}

impl End {
    /// Beside its own size.
    pub(crate) fn memory(&self) -> usize {
        let extra = self.extra.as_ref().map_or(0, |extra| size_of_val(&**extra));
        self.program.memory() + extra
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;
    use tcplab_plan::Experiment;
    use tcplab_plan::profile::Profile;

    use super::*;

    /// The world of benches/idle.toml with so many connections, after five seconds: they have been idle for four.
    fn idle(connections: u32) -> World {
        let text = include_str!("../../../../benches/idle.toml");
        let half = (connections / 2).to_string();
        let text = text.replace("{ axis = [7000, 14000], name = \"n\" }", &half);
        let experiment = Experiment::parse("idle.toml", &text).expect("it is well-formed");
        let points = experiment.points().expect("it has points");
        let mut point = points.into_iter().next().expect("one");
        point.max_ns = 5_000_000_000;
        let mut world = World::new(&point, &[Profile::default(), Profile::default()]).unwrap();
        world.begin();
        while world.turn() {}
        assert_eq!(world.now, Instant::from_nanos(point.max_ns));
        assert_eq!(world.work.connections, u64::from(connections));
        world
    }

    /// Both ends of a connection that was used and is idle take less than a kilobyte, all that belongs to it counted.
    #[test]
    fn an_idle_connection_takes_less_than_a_kilobyte() {
        let [few, many] = [7_000, 14_000].map(|connections| {
            let world = idle(connections);
            let ends = world.apps.ends.iter();
            assert!(ends.clone().all(|end| end.written > 0 && end.read > 0));
            let client = world.hosts[0].memory();
            let server = world.hosts[1].memory();
            [world.memory(), client, server]
        });
        let each = |n: usize| (many[n] - few[n]) / 7_000;
        println!(
            "both ends {}, client {}, server {}",
            each(0),
            each(1),
            each(2)
        );
        assert!(each(1) <= 320, "the client's TCP: {}", each(1));
        assert!(each(2) <= 320, "the server's TCP: {}", each(2));
        assert!(each(0) <= 1000, "both ends: {}", each(0));
        assert!(many[0] / 14_000 <= 1250, "with what is there once");
    }
}
