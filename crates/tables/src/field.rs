//! What a column is.

/// Kind of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Whole numbers from 0 to 2^64 - 1: only where one does not fit `Int`.
    Unsigned,
    /// Numbers.
    Float,
    /// Texts.
    Text,
    /// Texts that repeat: each is kept once.
    Word,
    /// Yes or no.
    Flag,
}

/// A column: its name, what its values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; those of JSON.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
    /// The unit of its values: `ns`, `us`, `bytes`, `bit/s`; empty: a number as such, or no number.
    pub unit: String,
    /// What it says, in a sentence.
    pub about: String,
}

impl Field {
    /// A column whose unit is the end of its name.
    pub fn new(name: impl Into<String>, kind: Kind, about: impl Into<String>) -> Self {
        let name = name.into();
        let unit = match kind {
            Kind::Int | Kind::Unsigned | Kind::Float => unit_of(&name).to_owned(),
            Kind::Text | Kind::Word | Kind::Flag => String::new(),
        };
        Self {
            name,
            kind,
            unit,
            about: about.into(),
        }
    }

    /// Columns of a list.
    pub fn all(list: &[(&str, Kind, &str)]) -> Vec<Self> {
        let one = |(name, kind, about): &(&str, Kind, &str)| Self::new(*name, *kind, *about);
        list.iter().map(one).collect()
    }
}

/// The unit that a name ends with; empty: none.
pub fn unit_of(name: &str) -> &'static str {
    match name.rsplit('_').next() {
        Some("ns") => "ns",
        Some("us") => "us",
        Some("ms") => "ms",
        Some("bytes") => "bytes",
        Some("pkts") => "packets",
        Some("bps") => "bit/s",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_end_of_the_name() {
        for (name, unit) in [
            ("time_ns", "ns"),
            ("c2s_goodput_bps", "bit/s"),
            ("bytes", "bytes"),
            ("queue_pkts", "packets"),
            ("stream", ""),
            ("bonus", ""),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
        assert_eq!(Field::new("in_us", Kind::Text, "").unit, "");
    }
}
