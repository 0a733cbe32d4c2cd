//! Values of behaviours as words, and what is wrong with a word.

use super::registry::Takes;

/// A type whose values have words.
pub(super) trait Word: Sized + Copy + PartialEq + 'static {
    /// All words.
    const WORDS: &'static [&'static str];
    /// The word of this value.
    fn word(self) -> &'static str;
    /// The value of a word.
    fn of(word: &str) -> Option<Self>;
}

/// Gives each value of an enum its word.
macro_rules! words {
    ($of:ident { $($value:ident: $word:literal),+ $(,)? }) => {
        impl $crate::profile::words::Word for $of {
            const WORDS: &'static [&'static str] = &[$($word),+];
            fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
            fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$value),)+
                    _ => None,
                }
            }
        }
    };
}
pub(super) use words;

impl Word for bool {
    const WORDS: &'static [&'static str] = &["on", "off"];
    fn word(self) -> &'static str {
        match self {
            true => "on",
            false => "off",
        }
    }
    fn of(word: &str) -> Option<Self> {
        match word {
            "on" | "true" => Some(true),
            "off" | "false" => Some(false),
            _ => None,
        }
    }
}

/// A profile or behaviour that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BehaviourError {
    /// No profile has this name.
    #[error("no profile `{0}`")]
    Profile(String),
    /// No behaviour has this name.
    #[error("no behaviour `{0}`")]
    Name(String),
    /// The behaviour does not take this value.
    #[error("`{name}` takes {}, not `{value}`", takes.words())]
    Value {
        /// The behaviour.
        name: &'static str,
        /// What was written.
        value: String,
        /// What it takes.
        takes: Takes,
    },
}
