//! The columns before the packet in tcpdump's text: time of day, dates, seconds, deltas, line numbers, prompts.
//!
//! Known forms are `tcpdump` with no option, `-tt`, `-ttt`, `-tttt`, `-ttttt`, and columns added in front by
//! scripts, mostly the time since the previous line. One line does not identify its columns, so the first lines are
//! examined together.

use tcplab_base::{Duration, Instant};

/// Time-like columns that are looked at in a line.
const MAX_COLUMNS: usize = 4;

/// A time column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    /// `10:16:38.541901`, nanoseconds.
    Clock(i64),
    /// `1760577398.541901` or `0.000042`, nanoseconds.
    Seconds(i64),
}

impl Column {
    const fn nanos(self) -> i64 {
        match self {
            Self::Clock(ns) | Self::Seconds(ns) => ns,
        }
    }
}

/// The columns of one line.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Columns {
    times: [Option<Column>; MAX_COLUMNS],
    /// Days since 1970, when a date stands there.
    day: Option<i64>,
}

impl Columns {
    /// Reads what stands before the packet; everything that is no time is passed over.
    pub(crate) fn read(prefix: &str) -> Self {
        let mut columns = Self::default();
        let mut next = columns.times.iter_mut();
        for word in prefix.split_ascii_whitespace() {
            let word = word.trim_start_matches(['(', '+', '[']);
            let word = word.trim_end_matches([')', ']', ',', ':']);
            if let Some(day) = date(word) {
                columns.day = Some(day);
            } else if let Some(column) = time(word)
                && let Some(slot) = next.next()
            {
                *slot = Some(column);
            }
        }
        columns
    }

    /// Whether there is a time.
    pub(crate) const fn is_timed(&self) -> bool {
        self.times[0].is_some()
    }
}

/// `YYYY-MM-DD` to days since 1970.
fn date(word: &str) -> Option<i64> {
    let mut parts = word.split('-');
    let (y, m, d) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || y.len() != 4 {
        return None;
    }
    let (y, m, d): (i64, i64, i64) = (y.parse().ok()?, m.parse().ok()?, d.parse().ok()?);
    if !(1..=12).contains(&m) || !(1..=31).contains(&d) {
        return None;
    }
    // Years that begin in March put the leap day last; 146,097 days are 400 years.
    let (year, month) = if m > 2 { (y, m - 3) } else { (y - 1, m + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + d - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn time(word: &str) -> Option<Column> {
    let mut parts = word.split(':');
    let (first, second, third) = (parts.next()?, parts.next(), parts.next());
    match (second, third, parts.next()) {
        (None, None, None) => seconds(first).map(Column::Seconds),
        (Some(minutes), Some(last), None) => {
            let hours = number(first)?;
            let minutes = number(minutes).filter(|m| *m < 60)?;
            let rest = seconds(last).filter(|s| *s < 61_000_000_000)?;
            let whole = hours.checked_mul(3_600)?.checked_add(minutes * 60)?;
            Some(Column::Clock(
                whole.checked_mul(1_000_000_000)?.checked_add(rest)?,
            ))
        }
        _ => None,
    }
}

/// Digits with a fraction; whole numbers are line numbers, not times.
fn seconds(word: &str) -> Option<i64> {
    let (whole, fraction) = word.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 12 {
        return None;
    }
    let digits: i64 = number(fraction)?;
    let ns = match u32::try_from(fraction.len()).ok()? {
        n @ 0..=9 => digits * 10_i64.pow(9 - n),
        n => digits / 10_i64.pow(n - 9),
    };
    number(whole)?.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Digits only: `parse` would take a sign.
fn number(word: &str) -> Option<i64> {
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    word.parse().ok()
}

/// How the columns become a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// The column that is the time.
    column: usize,
    /// It holds the time since the line before, not a point in time.
    is_delta: bool,
    /// The column that is the time since the line before, beside the time.
    delta: Option<usize>,
}

impl Layout {
    /// Judges the first lines: a time does not go back, a delta does.
    pub(crate) fn guess(lines: &[Columns]) -> Self {
        let values = |column: usize| {
            lines
                .iter()
                .filter_map(move |l| l.times.get(column).copied().flatten())
                .map(Column::nanos)
        };
        let rises = |column: &usize| {
            let count = values(*column).count();
            // Times do not stand still either; equal deltas do.
            let still = count > 3
                && values(*column)
                    .skip(1)
                    .all(|v| Some(v) == values(*column).nth(1));
            count > 0 && values(*column).is_sorted() && !still
        };
        let column = (0..MAX_COLUMNS).find(rises);
        let delta = (0..MAX_COLUMNS)
            .find(|c| Some(*c) != column && values(*c).next().is_some())
            .filter(|c| is_delta_of(lines, column.unwrap_or(0), *c));
        // Deltas begin with 0 (or close to it); a clock that goes back once is packets out of order.
        let is_delta = column.is_none() && values(0).next().is_some_and(|ns| ns < 1_000_000_000);
        Self {
            column: column.unwrap_or(0),
            is_delta,
            delta,
        }
    }
}

/// Most values of a delta column are not above the step of the time column: equal when no line was taken out, less
/// when some were.
fn is_delta_of(lines: &[Columns], time: usize, delta: usize) -> bool {
    let (mut fits, mut fails) = (0, 0);
    let mut before: Option<i64> = None;
    for line in lines {
        let at = |c: usize| line.times.get(c).copied().flatten().map(Column::nanos);
        let (Some(t), Some(d)) = (at(time), at(delta)) else {
            continue;
        };
        if let Some(before) = before {
            // Rounding of three columns.
            let fit = d <= t.saturating_sub(before).saturating_add(2_000);
            fits += u32::from(fit);
            fails += u32::from(!fit);
        }
        before = Some(t);
    }
    fits > fails * 4
}

/// Turns columns into times, line by line.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    layout: Layout,
    /// Sum of the deltas, or the last time of day.
    last: i64,
    /// Midnights passed without a date.
    days: i64,
}

const DAY: i64 = 86_400_000_000_000;

impl Clock {
    pub(crate) const fn new(layout: Layout) -> Self {
        Self {
            layout,
            last: 0,
            days: 0,
        }
    }

    /// Time of a line, and the time since the line before when a column says it.
    pub(crate) fn time(&mut self, columns: &Columns) -> (Option<Instant>, Option<Duration>) {
        let at = |c: usize| columns.times.get(c).copied().flatten();
        let Some(column) = at(self.layout.column) else {
            return (None, None);
        };
        let ns = column.nanos();
        if self.layout.is_delta {
            self.last = self.last.saturating_add(ns);
            let delta = Duration::from_nanos(ns);
            return (Some(Instant::from_nanos(self.last)), Some(delta));
        }
        let delta = self.layout.delta.and_then(at);
        let delta = delta.map(|d| Duration::from_nanos(d.nanos()));
        let day = match (columns.day, column) {
            (Some(day), _) => day,
            (None, Column::Clock(_)) => {
                if ns < self.last.saturating_sub(DAY / 2) {
                    self.days += 1;
                }
                self.last = ns;
                self.days
            }
            (None, Column::Seconds(_)) => 0,
        };
        let time = ns.saturating_add(day.saturating_mul(DAY));
        (Some(Instant::from_nanos(time)), delta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lines: &[&str]) -> Vec<(i64, Option<i64>)> {
        let columns: Vec<_> = lines.iter().map(|l| Columns::read(l)).collect();
        let mut clock = Clock::new(Layout::guess(&columns));
        columns
            .iter()
            .map(|c| {
                let (time, delta) = clock.time(c);
                let time = time.expect("every line has one").as_nanos() / 1_000;
                (time, delta.map(Duration::as_micros))
            })
            .collect()
    }

    #[test]
    fn the_forms_of_tcpdump() {
        let day = 20_377 * 86_400_000_000;
        let clock = (10 * 3_600 + 16 * 60 + 38) * 1_000_000 + 541_901;
        for (line, want) in [
            ("10:16:38.541901 IP", clock),
            ("1760577398.541901 IP", 1_760_577_398_541_901),
            ("2025-10-16 10:16:38.541901 IP", day + clock),
            (" 00:00:00.000106 IP", 106),
            ("10:16:38.541901 eth0  Out IP", clock),
            ("17 0.000042 IP", 42),
            ("10:16:38.541901123 IP", clock),
            ("> > 10:16:38.541901 IP", clock),
            (
                "Oct 16 10:16:38 host tcpdump[77]: 10:16:38.541901 IP",
                clock,
            ),
        ] {
            assert_eq!(times(&[line]), [(want, None)], "{line}");
        }
        assert!(!Columns::read("02:00:c0:a8:0a:01 > , ethertype").is_timed());
        assert!(!Columns::read("17 IP").is_timed());
    }

    #[test]
    fn deltas_alone_are_added_up() {
        let lines = [
            " 00:00:00.000000",
            " 00:00:00.100000",
            " 00:00:00.000020",
            " 00:00:00.040000",
        ];
        let sums: Vec<_> = times(&lines).iter().map(|t| t.0).collect();
        assert_eq!(sums, [0, 100_000, 100_020, 140_020]);
        // Times since the first packet (-ttttt) look the same but do not go back.
        let lines = [" 00:00:00.000000", " 00:00:00.000020", " 00:00:00.040000"];
        let all: Vec<_> = times(&lines).iter().map(|t| t.0).collect();
        assert_eq!(all, [0, 20, 40_000]);
    }

    #[test]
    fn a_delta_column_is_told_from_the_time_in_either_order() {
        let lines = [
            "0.000000 0.000000",
            "0.500000 0.500000",
            "0.500020 0.000020",
            "1.000000 0.499980",
        ];
        let want = [
            (0, Some(0)),
            (500_000, Some(500_000)),
            (500_020, Some(20)),
            (1_000_000, Some(499_980)),
        ];
        assert_eq!(times(&lines), want);
        let swapped = [
            "0.000000 10:00:00.000000",
            "0.500000 10:00:00.500000",
            "0.000020 10:00:00.500020",
        ];
        assert_eq!(times(&swapped)[2], (36_000_500_020, Some(20)));
        // Lines taken out: the delta is smaller than the step.
        let grepped = [
            "0.000361 0.000028",
            "0.001599 0.000021",
            "0.101637 0.000022",
            "1.642092 0.040304",
        ];
        assert_eq!(times(&grepped)[3], (1_642_092, Some(40_304)));
    }

    #[test]
    fn midnight_passes() {
        let lines = ["23:59:59.900000", "00:00:00.100000"];
        let all = times(&lines);
        assert_eq!(all[1].0 - all[0].0, 200_000);
    }

    #[test]
    fn days_of_dates() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("2000-03-01", 11_017),
            ("2024-02-29", 19_782),
            ("2106-02-07", 49_710),
        ] {
            assert_eq!(date(text), Some(days), "{text}");
        }
        assert_eq!(date("2024-13-01"), None);
    }
}
