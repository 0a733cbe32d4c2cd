//! Parts of a run: the groups of a population, or the points of a campaign, whose number leaves one of some rests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Shards of a run at most: a population has as many groups.
pub(crate) const MAX_SHARDS: u32 = 2_048;

/// Neighbouring shards of a run, one or more. All of them are the whole run, which is written `1/1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    first: u32,
    last: u32,
    of: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self {
        first: 1,
        last: 1,
        of: 1,
    };

    /// Shard `number`, from 1, of so many.
    pub fn one(number: u32, of: u32) -> Option<Self> {
        Self::span(number, number, of)
    }

    /// Shards `first` to `last`, from 1, of so many.
    pub fn span(first: u32, last: u32, of: u32) -> Option<Self> {
        let is_there = (1..=MAX_SHARDS).contains(&of) && 1 <= first && first <= last && last <= of;
        let is_all = first == 1 && last == of;
        match is_all {
            true => is_there.then_some(Self::WHOLE),
            false => is_there.then_some(Self { first, last, of }),
        }
    }

    /// Whether it is the whole run.
    pub fn is_whole(self) -> bool {
        self == Self::WHOLE
    }

    /// The number of its first shard.
    pub(crate) fn first(self) -> u32 {
        self.first
    }

    /// The number of its last shard.
    pub(crate) fn last(self) -> u32 {
        self.last
    }

    /// How many shards the run has.
    pub(crate) fn of(self) -> u32 {
        self.of
    }

    /// Whether a group or a point, by its number from 0, is in it.
    pub fn has(self, piece: usize) -> bool {
        let rest = (piece % self.of as usize) as u32;
        (self.first - 1..self.last).contains(&rest)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}/{}", self.first, self.of),
            false => write!(f, "{}..{}/{}", self.first, self.last, self.of),
        }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (part, of) = text.split_once('/')?;
            if let Some(index) = part.strip_prefix("index:") {
                let index: u32 = index.parse().ok()?;
                return Self::one(index.checked_add(1)?, of.parse().ok()?);
            }
            let (first, last) = part.split_once("..").unwrap_or((part, part));
            Self::span(first.parse().ok()?, last.parse().ok()?, of.parse().ok()?)
        };
        read().ok_or_else(|| {
            format!("write I/N with I from 1 to N, and N at most {MAX_SHARDS}, such as 1/7; I..J/N, such as 3..5/7; or index:I/N with I from 0")
        })
    }
}

/// In manifests: number and how many; of several, the first, the last and how many.
impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.first == self.last {
            true => [self.first, self.of].serialize(to),
            false => [self.first, self.last, self.of].serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let numbers = Vec::<u32>::deserialize(from)?;
        let shard = match *numbers {
            [number, of] => Self::one(number, of),
            [first, last, of] => Self::span(first, last, of),
            _ => None,
        };
        shard.ok_or_else(|| {
            serde::de::Error::custom(format!("shard: there is no shard {numbers:?}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_all_shards_are_the_whole() {
        for text in ["1/7", "7/7", "3..5/7", "1/1"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        assert_eq!("1..7/7".parse(), Ok(Shard::WHOLE));
        assert_eq!("index:6/7".parse::<Shard>(), "7/7".parse());
        for wrong in [
            "",
            "0/3",
            "4/3",
            "1/2049",
            "3..2/7",
            "x/7",
            "1",
            "index:7/7",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn manifests_have_numbers() {
        for (shard, json) in [("2/3", "[2,3]"), ("2..3/4", "[2,3,4]"), ("1/1", "[1,1]")] {
            let shard: Shard = shard.parse().unwrap();
            assert_eq!(serde_json::to_string(&shard).unwrap(), json);
            assert_eq!(serde_json::from_str::<Shard>(json).unwrap(), shard);
        }
        for wrong in ["[0,3]", "[1]", "[1,2,3,4]", "[4,3]"] {
            assert!(serde_json::from_str::<Shard>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_piece_is_in_one_shard() {
        let parts: Vec<Shard> = ["1/7", "2..5/7", "6..7/7"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        for piece in 0..100 {
            assert_eq!(parts.iter().filter(|part| part.has(piece)).count(), 1);
        }
    }
}
