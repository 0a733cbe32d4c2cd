//! What a stack says of a setting that it does not honour.

use std::fmt;

use crate::point::Point;

/// A setting of a point that a stack does not honour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The key, such as `host.client.sysctl`.
    pub place: String,
    /// What stands there, and why this stack does not honour it.
    pub why: String,
    /// What can be done about it; empty: `why` says it.
    pub remedy: String,
    /// The name under which `run.tolerate` allows that the stack leaves it out; none: nothing allows it.
    pub name: Option<String>,
}

impl Refusal {
    /// One that nothing allows.
    pub fn new(place: impl Into<String>, why: impl Into<String>, remedy: &str) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
            remedy: remedy.to_owned(),
            name: None,
        }
    }

    /// The same, allowed where `run.tolerate` has this name.
    #[must_use]
    pub fn tolerable(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Whether the point lets a stack leave it out.
    pub fn is_tolerated(&self, point: &Point) -> bool {
        let name = self.name.as_deref();
        name.is_some_and(|name| point.tolerates(name))
    }

    /// The words of the result that had it left out.
    pub fn left_out(&self) -> String {
        format!("left out: {}: {}", self.place, self.why)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        match &self.name {
            Some(name) => write!(f, ", or allow it with run.tolerate = [\"{name}\"]"),
            None => Ok(()),
        }
    }
}
