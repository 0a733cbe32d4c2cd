//! Which run comes when.

use tcplab_base::Duration;
use tcplab_compare::Options;
use tcplab_os::cpu;

use super::Arm;
use crate::ends::{Over, Workload};

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The workloads, in their order.
    pub workloads: Vec<Workload>,
    /// One arm, or two that take turns.
    pub arms: Vec<Arm>,
    /// Runs of each workload in each arm.
    pub runs: Count,
    /// Time of a run before it counts.
    pub warm: Duration,
    /// Time in which it counts.
    pub time: Duration,
    /// Where the ends run.
    pub pinning: Vec<Pinning>,
    /// TCP_CONGESTION of both arms.
    pub congestion: Option<String>,
    /// Runs between two hosts are captured at both.
    pub captures: bool,
}

/// How many runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// So many.
    Just(u32),
    /// At least so many, and more where runs differ too much to find what shall be found.
    Enough(u32, Options),
}

impl Count {
    /// Runs that are made in any case.
    pub fn least(self) -> u32 {
        match self {
            Self::Just(runs) | Self::Enough(runs, _) => runs,
        }
    }
}

/// Where the ends of a workload run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Where the kernel puts them.
    Free,
    /// Client and server on a processor each, the first two that this process may use.
    Pinned,
    /// Both on one processor: nobody waits for another one to wake.
    One,
    /// Where runs of this workload differ least.
    Steady,
}

impl Pinning {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pinned => "pinned",
            Self::One => "one",
            Self::Steady => "steady",
        }
    }

    /// Where a workload is run: what is steady depends on it. Transactions between two processors take as long as one that
    /// sleeps takes to wake, which a hypervisor makes anything; ends of a stream on one processor take turns as the scheduler likes.
    pub(super) fn of(self, workload: &Workload) -> Self {
        self.on(cpu::allowed().len(), workload)
    }

    /// The same where this many processors may be used: on a single one both ends share it.
    fn on(self, processors: usize, workload: &Workload) -> Self {
        let is_stream = workload.is_stream() && matches!(workload.over, Over::Tcp | Over::Udp);
        match self {
            Self::Steady if is_stream && processors != 1 => Self::Pinned,
            Self::Steady => Self::One,
            other => other,
        }
    }

    /// Processors of client and server. The first one takes interrupts, so both are on the second.
    pub(super) fn cpus(self) -> [Option<usize>; 2] {
        let allowed = cpu::allowed();
        match (self, allowed.as_slice()) {
            (Self::Pinned, [a, b, ..]) => [Some(*a), Some(*b)],
            (Self::One, [_, b, ..]) => [Some(*b); 2],
            (Self::One, [a]) => [Some(*a); 2],
            _ => [None; 2],
        }
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Which repetition; runs of two arms with the same number are neighbours.
    pub block: u32,
    /// What it does.
    pub workload: Workload,
    /// Where its ends run; not [`Pinning::Steady`].
    pub pinning: Pinning,
    /// Index of its arm.
    pub arm: usize,
}

impl Plan {
    /// Each workload at each place, in the order of a repetition.
    pub(super) fn kinds(&self) -> Vec<(Pinning, Workload)> {
        let at = |pinning: &Pinning| {
            let pinning = *pinning;
            let of = move |workload: &Workload| (pinning.of(workload), *workload);
            self.workloads.iter().map(of)
        };
        self.pinning.iter().flat_map(at).collect()
    }

    /// The repetitions left to do of each kind, from `done` to `wanted`, in order. A repetition runs each workload in
    /// one arm, then in the other; every second repetition reverses the arms.
    pub(super) fn turns(&self, done: &[u32], wanted: &[u32]) -> Vec<Turn> {
        let kinds = self.kinds();
        let mut turns = Vec::new();
        for block in 0..wanted.iter().copied().max().unwrap_or(0) {
            for (kind, (pinning, workload)) in kinds.iter().enumerate() {
                if !(done[kind]..wanted[kind]).contains(&block) {
                    continue;
                }
                let arms = 0..self.arms.len();
                let arms: Vec<usize> = match block % 2 {
                    0 => arms.collect(),
                    _ => arms.rev().collect(),
                };
                turns.extend(arms.into_iter().map(|arm| Turn {
                    block,
                    workload: *workload,
                    pinning: *pinning,
                    arm,
                }));
            }
        }
        turns
    }

    /// The runs that are made in any case.
    pub fn least(&self) -> usize {
        self.kinds().len() * self.arms.len() * self.runs.least() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;

    #[test]
    fn arms_take_turns_and_change_places() {
        let arm = |name: &str| Arm {
            name: name.into(),
            setting: Setting::AsItIs,
        };
        let plan = Plan {
            workloads: vec!["TCP_RR".parse().unwrap(), "TCP_STREAM:64".parse().unwrap()],
            arms: vec![arm("a"), arm("b")],
            runs: Count::Just(3),
            warm: Duration::from_millis(100),
            time: Duration::from_millis(900),
            pinning: vec![Pinning::Free],
            congestion: None,
            captures: false,
        };
        let order: Vec<_> = plan
            .turns(&[0, 0], &[3, 3])
            .iter()
            .map(|turn| (turn.block, turn.workload.to_string(), turn.arm))
            .collect();
        let (rr, stream) = ("TCP_RR".to_owned(), "TCP_STREAM:64".to_owned());
        assert_eq!(order.len(), 12);
        assert_eq!(order[0], (0, rr.clone(), 0));
        assert_eq!(order[1], (0, rr.clone(), 1));
        assert_eq!(order[2], (0, stream.clone(), 0));
        assert_eq!(order[4], (1, rr.clone(), 1));
        assert_eq!(order[5], (1, rr, 0));
        assert_eq!(order[6], (1, stream, 1));
        assert_eq!(plan.least(), 12);
        // Where one has enough, the other goes on alone.
        let more = plan.turns(&[3, 3], &[3, 5]);
        let more: Vec<_> = more.iter().map(|turn| (turn.block, turn.arm)).collect();
        assert_eq!(more, [(3, 1), (3, 0), (4, 0), (4, 1)]);
    }

    #[test]
    fn what_is_steady_depends_on_the_workload() {
        let of = |name: &str| Pinning::Steady.on(2, &name.parse().unwrap());
        let stream = "TCP_STREAM:64".parse().unwrap();
        assert_eq!(Pinning::Steady.on(1, &stream), Pinning::One);
        for name in ["TCP_STREAM:64", "UDP_STREAM:1024"] {
            assert_eq!(of(name), Pinning::Pinned, "{name}");
        }
        for name in [
            "TCP_RR",
            "TCP_CRR",
            "UDP_RR",
            "AF_UNIX_STREAM:65536",
            "PIPE_RR",
        ] {
            assert_eq!(of(name), Pinning::One, "{name}");
        }
        assert_eq!(Pinning::Free.of(&"TCP_RR".parse().unwrap()), Pinning::Free);
    }
}
