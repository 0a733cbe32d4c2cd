//! Time that did not pass: the clock of the capture was set ahead.

use super::ledger::Account;
use super::{Budget, Class, Request, Span};

impl Account {
    /// Takes `by` microseconds out, which the capture's clock skipped `at` microseconds after the first packet.
    ///
    /// They lie in one stretch, so in one class. Where several classes have as much, nothing is known any more.
    pub(crate) fn skip(&mut self, at: u64, by: u64) {
        let whole = self.budget.total().saturating_sub(by);
        let long = |part: &(Class, u64)| part.1 >= by;
        let budget = self.budget;
        let mut classes = budget.parts().filter(long);
        let (first, second) = (classes.next(), classes.next());
        let (Some((class, _)), None, true) = (first, second, self.is_in_one(at, by)) else {
            self.forget(whole);
            return;
        };
        self.budget.less(class, by);
        for r in &mut self.requests {
            if r.start_us > at {
                r.start_us = r.start_us.saturating_sub(by).max(at);
            } else if r.start_us + r.duration_us > at && r.budget_us.of(class) >= by {
                r.budget_us.less(class, by);
                r.duration_us -= by;
                self.asked.less(class, by);
            }
        }
        for span in &mut self.spans {
            for end in [&mut span.from_us, &mut span.to_us] {
                if *end > at {
                    *end = end.saturating_sub(by).max(at);
                }
            }
        }
        self.spans.retain(|span| span.to_us > span.from_us);
    }

    /// Whether the request that it lies in gave so much to one class.
    fn is_in_one(&self, at: u64, by: u64) -> bool {
        let over = |r: &&Request| r.start_us <= at && r.start_us + r.duration_us > at;
        let mut parts = self.requests.iter().filter(over);
        parts.all(|r| r.duration_us < by || r.budget_us.parts().any(|part| part.1 >= by))
    }

    /// Nothing is known of all this time.
    fn forget(&mut self, whole: u64) {
        self.budget = Budget::default();
        self.budget.add(Class::Unknown, whole);
        self.asked = Budget::default();
        self.not_listed += self.requests.len() as u64;
        self.requests = Vec::new();
        self.spans = vec![Span {
            from_us: 0,
            to_us: whole,
            class: Class::Unknown,
        }];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_clock_time_is_removed_from_its_class() {
        let mut account = Account::default();
        account.budget.add(Class::Path, 40);
        account.budget.add(Class::ClientThinks, 1_000);
        let span = |from_us, to_us, class| Span {
            from_us,
            to_us,
            class,
        };
        account.spans = vec![
            span(0, 20, Class::Path),
            span(20, 1_020, Class::ClientThinks),
            span(1_020, 1_040, Class::Path),
        ];
        account.skip(20, 990);
        assert_eq!(account.budget.of(Class::ClientThinks), 10);
        let ends: Vec<u64> = account.spans.iter().map(|s| s.to_us).collect();
        assert_eq!(ends, [20, 30, 50]);
        // Two classes that have as much.
        account.skip(20, 10);
        assert_eq!(account.budget.of(Class::Unknown), 40);
        assert_eq!(account.budget.total(), 40);
    }
}
