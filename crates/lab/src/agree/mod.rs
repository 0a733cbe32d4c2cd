//! Do two stacks agree? What their hosts sent at the same points, packet by packet.
//!
//! Only stacks whose time passes by events alone can (`model:`, `uml:`): elsewhere work takes time, and packets leave when
//! it is done. The captures of a campaign are read once more for it, after all points have run.

pub mod compare;
pub mod packets;
mod text;

use std::path::Path;

use tcplab_plan::Point;
use tcplab_plan::agreement::{Agreement, FirstDifference};
use tcplab_plan::network::capture_files;
use tcplab_plan::result::PointResult;

use crate::campaign::Campaign;
use crate::error::LabError;
use crate::folder::point_name;
use crate::pool;
use crate::stack::{Lab, Stack};

use compare::{Comparison, EXTRA, compare};
use packets::Sent;

/// A finished campaign and where its captures are.
pub(crate) struct Finished<'a> {
    pub(crate) campaign: &'a Campaign<'a>,
    /// The results of all points on all stacks, in their order.
    pub(crate) results: &'a [PointResult],
    pub(crate) folder: &'a Path,
}

/// A point of two stacks.
enum Compared {
    /// How they compare, and the connections of the first one.
    Packets(Comparison, usize),
    /// Why they were not compared.
    Not(String),
}

/// The first stack in virtual time against each other one; empty with fewer than two.
///
/// # Errors
/// The wish to stop.
pub(crate) fn of(lab: &Lab, finished: &Finished<'_>) -> Result<Vec<Agreement>, LabError> {
    let Campaign { stacks, points, .. } = finished.campaign;
    let exact = (0..stacks.len()).filter(|at| stacks[*at].is_exact());
    let mut exact = exact.collect::<Vec<_>>().into_iter();
    let (Some(first), Some(_)) = (exact.next(), exact.as_slice().first()) else {
        return Ok(Vec::new());
    };
    let others = exact.as_slice();
    let mut found: Vec<Vec<Compared>> = points.iter().map(|_| Vec::new()).collect();
    pool::each(
        points.len(),
        &pool::anywhere(finished.campaign.jobs),
        |_| Ok(()),
        |(), point| match lab.stop.wanted() {
            true => Err(LabError::Interrupted),
            false => Ok(finished.at(point, first, others)),
        },
        |point, compared| {
            found[point] = compared;
            Ok(())
        },
    )?;
    let pairs = others.iter().enumerate();
    let agreements = pairs.map(|(pair, other)| {
        let mut agreement = Agreement {
            stacks: [first, *other].map(|at| stacks[at].name.clone()),
            ..Agreement::default()
        };
        for (point, compared) in found.iter().enumerate() {
            finished.add(&mut agreement, (point, &compared[pair]), (first, *other));
        }
        agreement
    });
    Ok(agreements.collect())
}

impl Finished<'_> {
    /// A point on one stack against the same on each of the others.
    fn at(&self, point: usize, first: usize, others: &[usize]) -> Vec<Compared> {
        let ours = self.sent(point, first);
        let one = |other: &usize| {
            let ours = ours.as_ref().map_err(Clone::clone)?;
            let theirs = self.sent(point, *other)?;
            if ours.packets.is_empty() && theirs.packets.is_empty() {
                return Err("no TCP packets to compare".to_owned());
            }
            Ok(Compared::Packets(compare(ours, &theirs), ours.flows))
        };
        let compared = others
            .iter()
            .map(|other| one(other).unwrap_or_else(Compared::Not));
        compared.collect()
    }

    /// What the hosts sent at a point on a stack, or why it is not known.
    fn sent(&self, point: usize, stack: usize) -> Result<Sent, String> {
        let Campaign { stacks, points, .. } = self.campaign;
        let (stack, number) = (&stacks[stack], stack * points.len() + point);
        let point = &points[point];
        if self.campaign.only.is_some() {
            return Err("only a part of the points was run".to_owned());
        }
        if !point.captures {
            return Err("run.captures = false".to_owned());
        }
        if self
            .results
            .get(number)
            .is_none_or(|result| result.error.is_some())
        {
            return Err(format!("{} has no result", stack.name));
        }
        let folder = self.folder.join(point_name(number));
        read(point, stack, &folder).map_err(|e| format!("{}: {e}", stack.name))
    }

    /// Counts a point, and keeps the first difference.
    fn add(
        &self,
        to: &mut Agreement,
        (point, compared): (usize, &Compared),
        stacks: (usize, usize),
    ) {
        let (comparison, connections) = match compared {
            Compared::Not(why) => {
                *to.not_compared.entry(why.clone()).or_default() += 1;
                return;
            }
            Compared::Packets(comparison, connections) => (comparison, *connections),
        };
        to.points += 1;
        to.packets += comparison.packets.0;
        let Some(difference) = &comparison.first else {
            to.equal_points += 1;
            return;
        };
        if to.first.is_some() {
            return;
        }
        let points = self.campaign.points;
        let stack = if difference.field == EXTRA {
            stacks.1
        } else {
            stacks.0
        };
        let folder = point_name(stack * points.len() + point);
        let point = &points[point];
        let files = capture_files(point);
        let file = files.get(difference.place.file).map(|(_, _, file)| file);
        let host = point.hosts.get(difference.host);
        let (a, b) = difference.values.clone();
        to.first = Some(FirstDifference {
            axes: point.axes.clone(),
            host: host.map(|host| host.name.clone()).unwrap_or_default(),
            connection: difference.flow + 1,
            connections,
            number: difference.number + 1,
            kind: difference.kind.to_owned(),
            times_ns: difference.times_ns,
            capture: folder
                .join(file.map_or("", String::as_str))
                .display()
                .to_string(),
            frame: difference.place.frame,
            field: difference.field.to_owned(),
            values: [a, b],
            class: difference.class(),
            equal_packets: comparison.equal,
        });
    }
}

fn read(point: &Point, stack: &Stack, folder: &Path) -> Result<Sent, LabError> {
    // Stacks without it are not asked.
    let hz = stack.hz(point)?.unwrap_or_default();
    Sent::read(point, folder, &hz)
}
