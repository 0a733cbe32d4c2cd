//! `pie` (tc-pie(8)).

use super::COUNTERS;
use crate::discipline::{Named, Words, read};
use crate::netlink::Attributes;
use crate::words::{Lexer, Word, Wrong, names, put};

/// The settings, as tc gives them to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that may wait.
    pub limit: u32,
    /// Time in the queue that the chance is led to, in microseconds.
    pub target_us: u32,
    /// Time from one adaptation of the chance to the next, in microseconds.
    pub tupdate_us: u32,
    /// Weight of the distance from the target, in sixteenths of 1/s.
    pub alpha: u32,
    /// Weight of the change since the last adaptation, in sixteenths of 1/s.
    pub beta: u32,
    /// Mark instead of drop where a packet can be marked.
    pub ecn: bool,
    /// Short packets have a smaller chance.
    pub bytemode: bool,
    /// The delay is what waits by the rate at which it leaves, not how long the last packet waited.
    pub dq_rate_estimator: bool,
}

/// `enum TCA_PIE_*`.
const TARGET: u16 = 1;
const LIMIT: u16 = 2;
const TUPDATE: u16 = 3;
const ALPHA: u16 = 4;
const BETA: u16 = 5;
const ECN: u16 = 6;
const BYTEMODE: u16 = 7;
const DQ_RATE_ESTIMATOR: u16 = 8;

/// The most that tc takes for alpha and beta.
const MOST_WEIGHT: i64 = 32;

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 1_000,
            target_us: 15_000,
            tupdate_us: 15_000,
            alpha: 2,
            beta: 20,
            ecn: false,
            bytemode: false,
            dq_rate_estimator: false,
        }
    }
}

const TABLE: [Word<Settings>; 11] = [
    ("limit", |p, w| number(p, |p| &mut p.limit, w.unsigned())),
    ("target", |p, w| number(p, |p| &mut p.target_us, w.micros())),
    ("tupdate", |p, w| {
        number(p, |p| &mut p.tupdate_us, w.micros())
    }),
    ("alpha", |p, w| number(p, |p| &mut p.alpha, weight(w))),
    ("beta", |p, w| number(p, |p| &mut p.beta, weight(w))),
    ("ecn", |p, _| put(&mut p.ecn, true)),
    ("noecn", |p, _| put(&mut p.ecn, false)),
    ("bytemode", |p, _| put(&mut p.bytemode, true)),
    ("nobytemode", |p, _| put(&mut p.bytemode, false)),
    ("dq_rate_estimator", |p, _| {
        put(&mut p.dq_rate_estimator, true)
    }),
    ("no_dq_rate_estimator", |p, _| {
        put(&mut p.dq_rate_estimator, false)
    }),
];

impl Words for Settings {
    const NAME: &'static str = "pie";
    const SUPPORTED: &'static str = "all";
    const WORDS: &'static [&'static str] = &names(&TABLE);
    const EXAMPLES: &'static [&'static str] = &[
        "pie limit 9 -> pie limit 3 bytemode",
        "pie target 100us tupdate 1ms alpha 32 beta 32 -> pie dq_rate_estimator",
        "pie dq_rate_estimator target 1ms ecn -> pie limit 3 alpha 32",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut pie = Self::default();
        Self::read(&mut pie, &TABLE, words)?;
        Ok(pie)
    }

    fn options(&self) -> Option<Vec<u8>> {
        let mut out = Attributes::default();
        out.u32(LIMIT, self.limit);
        out.u32(TUPDATE, self.tupdate_us);
        out.u32(TARGET, self.target_us);
        out.u32(ALPHA, self.alpha);
        out.u32(BETA, self.beta);
        out.u32(ECN, self.ecn.into());
        out.u32(BYTEMODE, self.bytemode.into());
        out.u32(DQ_RATE_ESTIMATOR, self.dq_rate_estimator.into());
        Some(out.bytes())
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        (read(&COUNTERS, app), Vec::new())
    }
}

/// Sets a number; tc does not send a zero, which leaves the kernel's default.
fn number<'a>(
    pie: &mut Settings,
    place: fn(&mut Settings) -> &mut u32,
    value: Result<u32, Wrong<'a>>,
) -> Result<(), Wrong<'a>> {
    *place(pie) = match value? {
        0 => *place(&mut Settings::default()),
        n => n,
    };
    Ok(())
}

fn weight<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    Ok(words.number(0, MOST_WEIGHT)? as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Settings, Wrong<'_>> {
        Settings::parse(&mut Lexer::new(words))
    }

    #[test]
    fn words_and_defaults() {
        let all = parsed(
            "limit 50 target 20ms tupdate 30ms alpha 3 beta 32 ecn bytemode dq_rate_estimator",
        );
        let right = Settings {
            limit: 50,
            target_us: 20_000,
            tupdate_us: 30_000,
            alpha: 3,
            beta: 32,
            ecn: true,
            bytemode: true,
            dq_rate_estimator: true,
        };
        assert_eq!(all, Ok(right));
        // A zero is what tc does not send.
        for none in [
            "",
            "limit 7 limit 0 target 0 tupdate 0 alpha 0 beta 0 ecn noecn",
        ] {
            assert_eq!(parsed(none), Ok(Settings::default()), "{none}");
        }
        assert_eq!(parsed("alpha 33").expect_err("above 32").word, "33");
    }
}
