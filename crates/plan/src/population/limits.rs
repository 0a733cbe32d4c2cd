//! What a draw can be at most and at least. A text whose ends lie beyond is refused; a distribution without ends has its
//! draws moved to the limit, and `tcplab population show` counts these draws.

use super::draw::Draws;
use super::keys;
use super::{Loss, Population, Reordering};
use crate::dist::Dist;
use crate::experiment::error::Fault;
use crate::experiment::fields::Fields;

/// Most requests of one connection.
pub(super) const MAX_REQUESTS: i64 = 10_000;
/// Bytes of the largest frame: a queue holds at least one.
pub(super) const FRAME: i64 = 1_514;
/// All of something, in billionths (10^-9).
const ALL: u64 = 1_000_000_000;

impl Loss {
    /// The most that the path can lose on average, in billionths (10^-9). After each burst at least one packet meets
    /// the good state, so a chain with bursts of a mean of n packets is in the bad state for n / (n + 1) of them.
    pub fn most_ppb(&self) -> u32 {
        let most = self.burst_ppm.map_or(ALL, |burst_ppm| {
            let bad = u128::from(self.bad_ppb) * u128::from(burst_ppm);
            (bad / (u128::from(burst_ppm) + 1_000_000)) as u64
        });
        most.min(ALL) as u32
    }
}

/// Refuses a loss that the path cannot have.
pub(super) fn check_loss(fields: &Fields<'_>, loss: &Loss) -> Result<(), Fault> {
    let most = loss.most_ppb();
    // Texts have four digits: a rate that is written as the limit is the limit.
    const ROUNDED: f64 = 100_000.0;
    let span = loss.rate.span();
    let is_more = |end: Option<f64>| end.is_some_and(|end| end > f64::from(most) + ROUNDED);
    if !is_more(span.high) && !is_more(span.low) {
        return Ok(());
    }
    let burst = loss.burst_ppm.unwrap_or(0) as f64 / 1e6;
    Err(fields.at(
        &keys::LOSS_RATE,
        format!(
            "bursts of {burst} packets with bad = {}% lose at most {:.2}%, the part burst / (burst + 1) of `bad`: lower `rate`, or raise `burst` or `bad`",
            f64::from(loss.bad_ppb) / 1e7,
            f64::from(most) / 1e7
        ),
    ))
}

/// Requests of a connection: whole numbers from 1.
pub(super) fn check_requests(fields: &Fields<'_>, dist: &Dist) -> Result<(), Fault> {
    let span = dist.span();
    let is_wrong = |end: f64| end < 1.0 || end > MAX_REQUESTS as f64 || end.fract() != 0.0;
    match [span.low, span.high].into_iter().flatten().any(is_wrong) {
        true => Err(fields.at(
            &keys::REQUESTS,
            format!("a connection has a whole number of requests, from 1 to {MAX_REQUESTS}"),
        )),
        false => Ok(()),
    }
}

/// The bytes of a queue.
pub(super) fn check_buffer(fields: &Fields<'_>, dist: &Dist) -> Result<(), Fault> {
    let span = dist.span();
    let is_less = |end: Option<f64>| end.is_some_and(|end| end < FRAME as f64);
    match is_less(span.low) || is_less(span.high) {
        true => Err(fields.at(
            &keys::BUFFER,
            format!("a queue holds at least one frame: {FRAME} bytes"),
        )),
        false => Ok(()),
    }
}

/// The largest extra delay of a packet is no less than the least one.
pub(super) fn check_reordering(fields: &Fields<'_>, rule: &Reordering) -> Result<(), Fault> {
    let crossed = rule.least.span().high.zip(rule.most.span().low);
    match crossed.is_some_and(|(least, most)| least > most) {
        true => Err(fields.at(
            &keys::REORDER_MOST,
            "can be less than `least`: raise `most` or lower `least`",
        )),
        false => Ok(()),
    }
}

/// Draws that were moved to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The path loses less than was drawn; the kind of loss, by its place in [`Population::losses`].
    Loss(usize),
    /// Fewer requests than were drawn.
    Requests,
    /// A larger queue than was drawn.
    Buffer,
    /// A larger extra delay than was drawn.
    Reordering,
}

impl Population {
    /// The limits that the draws of connection `number` met.
    pub fn limits(&self, number: u64) -> Vec<Limit> {
        let draws = self.draws(number);
        let mut met = Vec::new();
        if let Some((kind, rate)) = self.loss_rate(&draws)
            && rate > self.losses[kind].most_ppb()
        {
            met.push(Limit::Loss(kind));
        }
        if draws.one("requests", &self.requests) > MAX_REQUESTS {
            met.push(Limit::Requests);
        }
        if draws.one("buffer", &self.buffer) < FRAME {
            met.push(Limit::Buffer);
        }
        if let Some(rule) = &self.reordering
            && draws.one("reordering/most", &rule.most) < draws.one("reordering/least", &rule.least)
        {
            met.push(Limit::Reordering);
        }
        met
    }

    /// What a limit does, in words.
    pub fn limit_words(&self, limit: Limit) -> String {
        match limit {
            Limit::Loss(kind) => {
                let most = self.losses.get(kind).map_or(0, Loss::most_ppb);
                let most = f64::from(most) / 1e7;
                format!("loss[{kind}]: the path loses {most:.2} %, the most that its bursts allow")
            }
            Limit::Requests => format!("requests: lowered to {MAX_REQUESTS}"),
            Limit::Buffer => format!("buffer: raised to one frame, {FRAME} bytes"),
            Limit::Reordering => "reordering: `most` raised to `least`".to_owned(),
        }
    }

    /// The kind of loss and the mean loss as they were drawn.
    pub(super) fn loss_rate(&self, draws: &Draws) -> Option<(usize, u32)> {
        let shares = self.losses.iter().map(|loss| loss.share_ppb);
        let kind = super::draw::chosen(&mut draws.stream("loss/kind"), shares)?;
        let rate = draws.one("loss/rate", &self.losses[kind].rate);
        let rate = u32::try_from(rate).unwrap_or(0).min(1_000_000_000);
        Some((kind, rate))
    }
}
