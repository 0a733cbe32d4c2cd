//! The maximum of a sliding window in constant memory (Kathleen Nichols' algorithm; Linux lib/win_minmax.c).

use crate::pack::packed;

/// Best, second best and third best of the window, each later than the one before: (time, value).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax {
    best: [(u32, u32); 3],
}

packed!(WindowedMax { best });

impl WindowedMax {
    pub(super) fn get(&self) -> u32 {
        self.best[0].1
    }

    /// `minmax_running_max()`: a value at `time`; what is older than `window` is forgotten.
    pub(super) fn update(&mut self, window: u32, time: u32, value: u32) {
        let new = (time, value);
        let [first, second, third] = &mut self.best;
        if value >= first.1 || time.wrapping_sub(third.0) > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.1 {
            *second = new;
            *third = new;
        } else if value >= third.1 {
            *third = new;
        }
        let age = time.wrapping_sub(first.0);
        if age > window {
            *first = *second;
            *second = *third;
            *third = new;
            if time.wrapping_sub(first.0) > window {
                *first = *second;
                *second = *third;
                *third = new;
            }
        } else if second.0 == first.0 && age > window / 4 {
            *second = new;
            *third = new;
        } else if third.0 == second.0 && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_window_stays_and_then_goes() {
        let mut max = WindowedMax::default();
        let mut seen = Vec::new();
        for (time, value) in [(0, 10), (1, 7), (3, 8), (6, 5), (10, 4), (11, 4), (14, 3)] {
            max.update(10, time, value);
            seen.push(max.get());
        }
        assert_eq!(seen, [10, 10, 10, 10, 10, 8, 5]);
    }
}
