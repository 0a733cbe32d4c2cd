//! Sizes that are drawn: `sizes = "20 of lognormal(median 15kB, sigma 1)"`. The numbers depend on the point's seed and the
//! application's name alone, so every stack gets the same list, and the point has it.

use tcplab_base::Random;

use super::error::Fault;
use super::fields::Fields;
use super::keys::Key;
use super::keys::apps::{MESSAGE, WEB_SIZES};
use super::tree::Value;
use crate::app::AppKind;
use crate::dist::{Base, Dist, Kind};
use crate::point::Point;
use crate::rules::MAX_PAGES;

/// How many sizes of an application are drawn, and from which distribution; `None` when the value is not such a text.
pub(super) fn read(fields: &Fields<'_>, key: &Key) -> Result<Option<(usize, Dist)>, Fault> {
    let Some(node) = fields.node(key) else {
        return Ok(None);
    };
    let Value::Text(text) = &node.value else {
        return Ok(None);
    };
    let Some((count, dist)) = text.trim().split_once(" of ") else {
        return Ok(None);
    };
    let count: Option<usize> = count.trim().parse().ok();
    let count = count
        .filter(|n| (1..=MAX_PAGES).contains(n))
        .ok_or_else(|| {
            let message = format!("write `N of DISTRIBUTION` with 1 to {MAX_PAGES} for N");
            fields.fault(key, node, message)
        })?;
    let dist = Dist::parse(dist, Kind::Size);
    let dist = dist.map_err(|e| fields.fault(key, node, e.message))?;
    Ok(Some((count, dist)))
}

/// What of a point is drawn.
#[derive(PartialEq)]
pub(super) struct Draws(Vec<(usize, Dist)>);

impl Draws {
    /// Of the applications of a file.
    pub(super) fn read(apps: &[Fields<'_>]) -> Result<Self, Fault> {
        let mut all = Vec::new();
        for (index, fields) in apps.iter().enumerate() {
            // No other kind has the key.
            if let Some((_, dist)) = read(fields, &WEB_SIZES)? {
                all.push((index, dist));
            }
        }
        Ok(Self(all))
    }

    /// Draws as the point's seed says.
    pub(super) fn put_into(&self, point: &mut Point) {
        // A size has no relative words.
        let base = Base {
            rtt_ns: 0,
            rate_bps: 0,
        };
        for (index, dist) in &self.0 {
            let Some(app) = point.apps.get_mut(*index) else {
                continue;
            };
            let AppKind::Web { sizes, .. } = &mut app.does else {
                continue;
            };
            let mut random = Random::stream(point.seed, &format!("app/{}/sizes", app.name));
            for size in sizes {
                let drawn = dist.draw(&mut random, &base);
                *size = drawn.unsigned_abs().clamp(MESSAGE.0, MESSAGE.1);
            }
        }
    }
}
