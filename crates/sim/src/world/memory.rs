//! The memory that a world's connections take.

use super::World;

impl World {
    /// Bytes that are allocated now for connections: the TCP of all hosts, sockets, applications and events. Packets on
    /// their way are not in it, nor what an allocator needs beside.
    pub fn memory(&self) -> usize {
        let hosts: usize = self.net.hosts.iter().map(|host| host.memory()).sum();
        hosts + self.drive.memory() + self.net.sockets.memory() + self.net.events.memory()
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;
    use tcplab_plan::profile::Profile;
    use tcplab_plan::{Experiment, Point};

    use super::*;

    fn point(text: &str) -> Point {
        let experiment = Experiment::parse("test.toml", text).expect("it is well-formed");
        let points = experiment.points().expect("it has points");
        points.into_iter().next().expect("one")
    }

    fn world(point: &Point) -> World {
        World::new(point, &[Profile::default(), Profile::default()]).unwrap()
    }

    /// The world of benches/idle.toml with so many connections, after five seconds: they have been idle for four.
    fn idle(connections: u32) -> World {
        let text = include_str!("../../../../benches/idle.toml");
        let half = (connections / 2).to_string();
        let mut point = point(&text.replace("{ axis = [7000, 14000], name = \"n\" }", &half));
        point.max_ns = 5_000_000_000;
        let mut world = world(&point);
        world.begin();
        while world.turn() {}
        assert_eq!(world.exhausted(), None);
        assert_eq!(world.net.now, Instant::from_nanos(point.max_ns));
        assert_eq!(world.net.work.connections, u64::from(connections));
        world
    }

    /// Both ends of a connection that was used and is idle take less than a kilobyte, all that belongs to it counted.
    #[test]
    fn an_idle_connection_takes_less_than_a_kilobyte() {
        let [few, many] = [7_000, 14_000].map(|connections| {
            let world = idle(connections);
            let mut ends = world.drive.ends().iter().map(|end| end.bytes());
            assert!(ends.all(|(read, written)| read > 0 && written > 0));
            let client = world.net.hosts[0].memory();
            let server = world.net.hosts[1].memory();
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

    #[test]
    fn packing_moves_no_result() {
        let text = include_str!("../../../../examples/bench-web.toml");
        let text = text.replace("connections = 10000", "connections = 300");
        let text = text.replace("stagger = \"10ms\"", "stagger = \"1ms\"");
        let point = point(&text.replace("[\"10 kB\"]", "[\"10 kB\", \"50 kB\"]\nthink = [\"1s\"]"));
        let [plain, packed] = [1000, 0].map(|kept| {
            let mut world = world(&point);
            for host in &mut world.net.hosts {
                host.stack.keep_unpacked(kept);
            }
            let outcome = world.run(None, || true).expect("it goes on");
            (outcome, world.work())
        });
        assert_eq!(plain.0.flows.len(), 300);
        assert_eq!(plain, packed);
    }
}
