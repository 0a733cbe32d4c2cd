//! An outlier run again, in the baseline and in its arm, with the packets of the server's capture.

use std::env;

use tcplab_analyze::trace::StreamTrace;
use tcplab_os::Scratch;
use tcplab_plan::Population;
use tcplab_plan::network::capture_files;
use tcplab_plan::population::{Drawn, OutlierRecord};
use tcplab_plan::result::PointResult;

use super::arm_point;
use crate::error::LabError;
use crate::packets::traces;
use crate::stack::Lab;

/// The server's place among the hosts of a connection's point.
const SERVER: usize = 0;

/// What a connection did in two arms.
#[derive(Debug)]
pub struct Look {
    /// What was drawn for it.
    pub drawn: Drawn,
    /// The baseline, then the outlier's arm.
    pub sides: [Side; 2],
}

/// What a connection did in one arm.
#[derive(Debug)]
pub struct Side {
    /// The arm.
    pub arm: String,
    /// Counters, flows.
    pub result: PointResult,
    /// Its packets, as the server's interface saw them: what was sent, lost on its way or not, and which ACKs came.
    pub trace: StreamTrace,
}

/// Chooses outliers to look at: the furthest of each arm, then the second of each, in the order of the arms.
pub fn select(outliers: &[OutlierRecord], most: usize) -> Vec<&OutlierRecord> {
    let mut ranked: Vec<(usize, usize, &OutlierRecord)> = Vec::new();
    for (place, one) in outliers.iter().enumerate() {
        let rank = outliers[..place].iter().filter(|o| o.arm == one.arm);
        ranked.push((rank.count(), place, one));
    }
    ranked.sort_by_key(|(rank, place, _)| (*rank, *place));
    ranked.truncate(most);
    ranked.sort_by_key(|(_, place, _)| *place);
    ranked.into_iter().map(|(_, _, one)| one).collect()
}

/// Runs connection `number` in the baseline and in `arm`, with captures, which are thrown away.
///
/// # Errors
/// When the stack is no model, no arm has this name, or no temporary file can be written.
pub fn look(
    lab: &Lab,
    population: &Population,
    stack: &str,
    number: u64,
    arm: &str,
) -> Result<Look, LabError> {
    let place = population.arms.iter().position(|a| a.name == arm);
    let place = place.ok_or_else(|| {
        LabError::Wrong(format!(
            "the result has an arm `{arm}` that the population does not define"
        ))
    })?;
    Ok(Look {
        drawn: population.draw(number),
        sides: [
            side(lab, population, stack, number, 0)?,
            side(lab, population, stack, number, place)?,
        ],
    })
}

fn side(
    lab: &Lab,
    population: &Population,
    stack: &str,
    number: u64,
    arm: usize,
) -> Result<Side, LabError> {
    let point = arm_point(population, number, arm, stack)?;
    let folder = Scratch::new().map_err(LabError::at(&env::temp_dir()))?;
    let result = lab.run_one(&point, &lab.stack(stack)?, folder.path(), None)?;
    let files = capture_files(&point);
    let (_, _, file) = files
        .into_iter()
        .find(|(host, ..)| *host == SERVER)
        .ok_or_else(|| LabError::Point("the server has no interface".to_owned()))?;
    let mut found = traces(&folder.path().join(file))?;
    // One connection was opened; nothing else runs on this network.
    let trace = match found.is_empty() {
        true => StreamTrace::default(),
        false => found.remove(0),
    };
    Ok(Side {
        arm: population.arms[arm].name.clone(),
        result,
        trace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_has_its_furthest_before_any_has_its_second() {
        let outliers: Vec<OutlierRecord> = [("D", 1), ("D", 2), ("D", 3), ("R", 4), ("Y", 5)]
            .map(|(arm, connection)| OutlierRecord {
                connection,
                arm: arm.to_owned(),
                difference_us: 0,
            })
            .to_vec();
        let chosen = |most| {
            let chosen = select(&outliers, most);
            chosen.iter().map(|o| o.connection).collect::<Vec<_>>()
        };
        assert_eq!(chosen(3), [1, 4, 5]);
        assert_eq!(chosen(4), [1, 2, 4, 5]);
        assert_eq!(chosen(12), [1, 2, 3, 4, 5]);
    }
}
