//! Which run comes when.

use tcplab_base::Duration;
use tcplab_kernel::bench::{Http, Over, Workload};
use tcplab_kernel::cpu;

use super::Arm;

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The workloads, in their order.
    pub workloads: Vec<Workload>,
    /// One arm, or two that take turns.
    pub arms: Vec<Arm>,
    /// Runs of each workload in each arm.
    pub runs: u32,
    /// Time of a run before it counts.
    pub warm: Duration,
    /// Time in which it counts.
    pub time: Duration,
    /// Where the ends run.
    pub pinning: Vec<Pinning>,
    /// TCP_CONGESTION of both arms.
    pub congestion: Option<String>,
    /// What HTTP workloads are run with.
    pub http: Http,
    /// Runs between two hosts are captured at both.
    pub captures: bool,
}

/// Where the ends of a workload run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// Where the kernel puts them.
    Free,
    /// Client and server on a processor each, the first two that this process may use.
    Pinned,
}

impl Pinning {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pinned => "pinned",
        }
    }

    /// Processors of client and server.
    pub(super) fn cpus(self, _over: Over) -> [Option<usize>; 2] {
        let allowed = cpu::allowed();
        match (self, allowed.as_slice()) {
            (Self::Pinned, [a, b, ..]) => [Some(*a), Some(*b)],
            (Self::Pinned, [a]) => [Some(*a); 2],
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
    /// Where its ends run.
    pub pinning: Pinning,
    /// Index of its arm.
    pub arm: usize,
}

impl Plan {
    /// All runs, in their order: for each repetition each workload, in one arm and then in the other; every second
    /// repetition the other way round.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for block in 0..self.runs {
            for &pinning in &self.pinning {
                for &workload in &self.workloads {
                    let arms = 0..self.arms.len();
                    let arms: Vec<usize> = match block % 2 {
                        0 => arms.collect(),
                        _ => arms.rev().collect(),
                    };
                    turns.extend(arms.into_iter().map(|arm| Turn {
                        block,
                        workload,
                        pinning,
                        arm,
                    }));
                }
            }
        }
        turns
    }

    /// How long all runs take at least.
    pub fn lasts(&self) -> Duration {
        let each = self.warm + self.time;
        Duration::from_nanos(each.as_nanos().saturating_mul(self.turns().len() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Setting;

    #[test]
    fn arms_take_turns_and_change_places() {
        let arm = |name: &str| Arm {
            name: name.into(),
            setting: Setting::AsItIs,
        };
        let plan = Plan {
            workloads: vec!["TCP_RR".parse().unwrap(), "TCP_STREAM:64".parse().unwrap()],
            arms: vec![arm("a"), arm("b")],
            runs: 3,
            warm: Duration::from_millis(100),
            time: Duration::from_millis(900),
            pinning: vec![Pinning::Free],
            congestion: None,
            http: Http::default(),
            captures: false,
        };
        let order: Vec<_> = plan
            .turns()
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
        assert_eq!(plan.lasts(), Duration::from_secs(12));
    }
}
