//! One host alone: the test is the network and whoever answers.

use tcplab_base::Instant;
use tcplab_tcp::{ConnId, Cx, Endpoint, Segment, Stack};

/// A host and its time.
pub struct Alone {
    pub stack: Stack,
    pub now: Instant,
}

impl Alone {
    /// A segment arrives; what leaves.
    pub fn put(&mut self, seg: Segment) -> Vec<Segment> {
        self.stack.on_segment(self.now, &seg);
        self.out()
    }

    /// What leaves.
    pub fn out(&mut self) -> Vec<Segment> {
        self.stack.check();
        std::iter::from_fn(|| self.stack.poll_segment()).collect()
    }

    /// Lets time pass; what leaves.
    pub fn run(&mut self, ns: i64) -> Vec<Segment> {
        let end = Instant::from_nanos(self.now.as_nanos() + ns);
        let mut all = Vec::new();
        while let Some(at) = self.stack.next_timer().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.stack.on_timer(self.now);
            all.extend(self.out());
        }
        self.now = end;
        all
    }

    /// A call on a connection.
    pub fn with<R>(&mut self, id: ConnId, call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R) -> R {
        let result = self.stack.with(self.now, id, call);
        result.expect("the connection is held")
    }

    /// A field of `tcp_info`.
    pub fn info(&mut self, id: ConnId, name: &str) -> i64 {
        let all = self.with(id, |ep, cx| ep.info(cx));
        all.iter().find(|(n, _)| *n == name).expect("a field").1
    }

    /// A counter.
    pub fn count(&self, name: &str) -> u64 {
        let found = self.stack.mib.iter().find(|(n, _)| *n == name);
        found.expect("a counter").1
    }
}
