//! The account: what each stretch of time was given to, in the connection as a whole, in its requests, and as spans.
//!
//! Time is given out from left to right, each stretch to one class, so that the parts sum to the whole.

use super::{Budget, Class, Request, Span};

/// Most requests that are listed for one connection; later ones are counted.
const LISTED: usize = 256;
/// Most connections have no more, and take no memory for more: a list grows by one at a time up to here.
const FEW: usize = 4;
/// Most spans that are kept for one connection.
const SPANS: usize = 8_192;

/// What repairs losses takes time that nobody wants.
const REPAIRS: [Class; 4] = [Class::FastRecovery, Class::Tlp, Class::Rto, Class::Spurious];

/// The account of one connection. Times are microseconds after its first packet.
#[derive(Debug)]
pub(crate) struct Ledger {
    total: Budget,
    /// Everything before it is given out.
    cursor: u64,
    /// The newest stretch, which may go on: its class, and where it begins.
    class: Class,
    from: u64,
    requests: Requests,
    /// Kept only with a trace.
    #[expect(
        clippy::box_collection,
        reason = "mostly there is no trace, and no box"
    )]
    spans: Option<Box<Vec<Span>>>,
}

/// The requests of one connection.
#[derive(Debug, Default)]
struct Requests {
    /// The listed requests, then the open one, so its place is fixed.
    list: Vec<Request>,
    open: bool,
    /// What client and server had sent when the open one began.
    sent: [u64; 2],
    not_listed: u64,
    /// Where the time of those that are not listed went.
    rest: Option<Box<Budget>>,
}

impl Requests {
    /// The one that is going on.
    #[inline]
    fn open(&mut self) -> Option<&mut Request> {
        self.list.last_mut().filter(|_| self.open)
    }

    fn ask(&mut self, request: Request, sent: [u64; 2]) {
        if self.list.len() < FEW {
            self.list.reserve_exact(1);
        }
        self.list.push(request);
        (self.open, self.sent) = (true, sent);
    }

    /// The open one ended at `at`.
    fn answered(&mut self, at: u64, sent: [u64; 2]) {
        let before = self.sent;
        let Some(request) = self.open() else {
            return;
        };
        request.duration_us = at - request.start_us;
        request.request_bytes = sent[0].saturating_sub(before[0]);
        request.response_bytes = sent[1].saturating_sub(before[1]);
        self.open = false;
        if self.list.len() > LISTED
            && let Some(request) = self.list.pop()
        {
            self.not_listed += 1;
            let rest = self.rest.get_or_insert_default();
            rest.add_all(&request.budget_us);
        }
    }

    /// The time in `[from, to)` belongs to another class.
    fn turn(&mut self, (from, to): (u64, u64), was: Class, is: Class) {
        let shared = |a: u64, b: u64| b.min(to).saturating_sub(a.max(from));
        let mut before = 0;
        let closed = self.list.len() - usize::from(self.open);
        for r in self.list.iter_mut().take(closed) {
            before = r.start_us + r.duration_us;
            let us = shared(r.start_us, before);
            r.budget_us.turn(was, is, us);
        }
        if let Some(r) = self.open() {
            r.budget_us.turn(was, is, shared(r.start_us, u64::MAX));
        } else if let Some(rest) = &mut self.rest {
            rest.turn(was, is, shared(before, u64::MAX));
        }
    }
}

/// What a ledger says at the end.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub budget: Budget,
    pub requests: Vec<Request>,
    pub not_listed: u64,
    /// Where the time of all requests went.
    pub asked: Budget,
    pub spans: Vec<Span>,
}

impl Account {
    /// An account whose whole time is unknown.
    pub(crate) fn unknown(us: u64) -> Self {
        let span = Span {
            from_us: 0,
            to_us: us,
            class: Class::Unknown,
        };
        let mut account = Self::default();
        account.budget.add(Class::Unknown, us);
        account.spans.extend((us > 0).then_some(span));
        account
    }

    /// The time in which the client waited. A request that is lost on its way to the capture begins late here: the time
    /// of its repair counts all the same.
    pub(crate) fn waited(&self) -> Budget {
        let mut waited = self.asked;
        if !waited.is_empty() {
            for class in REPAIRS {
                waited.add(
                    class,
                    self.budget.of(class).saturating_sub(self.asked.of(class)),
                );
            }
        }
        waited.add(Class::Handshake, self.budget.of(Class::Handshake));
        waited
    }
}

impl Ledger {
    pub(crate) fn new(spans: bool) -> Self {
        Self {
            total: Budget::default(),
            cursor: 0,
            class: Class::Unknown,
            from: 0,
            requests: Requests::default(),
            spans: spans.then(Box::default),
        }
    }

    /// Everything before it is given out.
    #[inline]
    pub(crate) fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Gives the time up to `to` to a class.
    #[inline]
    pub(crate) fn until(&mut self, class: Class, to: u64) {
        if to > self.cursor {
            if class != self.class {
                self.settle();
                self.class = class;
            }
            self.cursor = to;
        }
    }

    /// Books the newest stretch.
    fn settle(&mut self) {
        let us = self.cursor - self.from;
        if us == 0 {
            return;
        }
        self.total.add(self.class, us);
        if let Some(open) = self.requests.open() {
            open.budget_us.add(self.class, us);
        }
        if let Some(spans) = self.spans.as_deref_mut() {
            let span = Span {
                from_us: self.from,
                to_us: self.cursor,
                class: self.class,
            };
            let room = spans.len() < SPANS;
            match spans.last_mut() {
                Some(last) if last.class == span.class && last.to_us == span.from_us => {
                    last.to_us = span.to_us;
                }
                _ if room => spans.push(span),
                _ => {}
            }
        }
        self.from = self.cursor;
    }

    /// A request begins at the cursor, with this frame. `sent` are the bytes that client and server sent before it.
    pub(crate) fn ask(&mut self, packet: u64, sent: [u64; 2]) {
        self.settle();
        let request = Request {
            packet,
            start_us: self.cursor,
            ..Request::default()
        };
        self.requests.ask(request, sent);
    }

    /// The newest stretch, as far as it lies behind `from`, and its class.
    pub(crate) fn newest(&self, from: u64) -> (u64, u64, Class) {
        (self.from.max(from), self.cursor, self.class)
    }

    /// The frame that began the open request, and when.
    pub(crate) fn asked(&self) -> Option<(u64, u64)> {
        let requests = &self.requests;
        let open = requests.list.last().filter(|_| requests.open);
        open.map(|request| (request.packet, request.start_us))
    }

    /// The request that is open ended at the cursor. `sent` are the bytes that client and server sent so far.
    pub(crate) fn answered(&mut self, sent: [u64; 2]) {
        self.settle();
        self.requests.answered(self.cursor, sent);
    }

    /// The time in `[from, to)` that was given to `was` belongs to `is`: the evidence came later. All of it must have
    /// been given to `was`.
    pub(crate) fn turn(&mut self, (from, to): (u64, u64), was: Class, is: Class) {
        self.settle();
        self.total.turn(was, is, to.saturating_sub(from));
        self.requests.turn((from, to), was, is);
        if let Some(spans) = self.spans.as_deref_mut() {
            let first = spans.partition_point(|s| s.to_us <= from);
            let end = spans.partition_point(|s| s.from_us < to);
            let parts = |s: Span| {
                let (a, b) = (from.clamp(s.from_us, s.to_us), to.clamp(s.from_us, s.to_us));
                let piece = |from_us, to_us, class| Span {
                    from_us,
                    to_us,
                    class,
                };
                let other = if s.class == was { is } else { s.class };
                [
                    piece(s.from_us, a, s.class),
                    piece(a, b, other),
                    piece(b, s.to_us, s.class),
                ]
            };
            let within = spans.get(first..end).unwrap_or_default().to_vec();
            let turned = within.into_iter().flat_map(parts);
            spans.splice(
                first..end.max(first),
                turned.filter(|s| s.from_us < s.to_us),
            );
        }
    }

    /// Microseconds that were given to a class so far.
    pub(crate) fn given(&self, class: Class) -> u64 {
        let newest = if class == self.class {
            self.cursor - self.from
        } else {
            0
        };
        self.total.of(class) + newest
    }

    /// The same, and ends the stretch of this class here.
    pub(crate) fn booked(&mut self, class: Class) -> u64 {
        self.settle();
        self.total.of(class)
    }

    /// What was given to `was` since `from`, when `before` was booked for it, belongs to `is`. Of the requests only the
    /// open one changes.
    pub(crate) fn turn_since(&mut self, from: u64, before: u64, was: Class, is: Class) {
        let us = self.booked(was).saturating_sub(before);
        if us == 0 {
            return;
        }
        self.total.turn(was, is, us);
        if let Some(open) = self.requests.open() {
            open.budget_us.turn(was, is, us);
        }
        let spans = self.spans.iter_mut().flat_map(|s| s.iter_mut());
        let since = |s: &&mut Span| s.class == was && s.from_us >= from;
        spans.filter(since).for_each(|s| s.class = is);
    }

    /// Ends the account, in which no request is open.
    pub(crate) fn close(mut self) -> Account {
        self.settle();
        let Requests {
            list,
            not_listed,
            rest,
            ..
        } = self.requests;
        let mut asked = rest.map(|rest| *rest).unwrap_or_default();
        list.iter().for_each(|r| asked.add_all(&r.budget_us));
        Account {
            budget: self.total,
            requests: list,
            not_listed,
            asked,
            spans: self.spans.map(|s| *s).unwrap_or_default(),
        }
    }

    /// Bytes behind it, about; spans count as rows of the trace do: not here.
    pub(crate) fn weight(&self) -> usize {
        self.requests.list.capacity() * size_of::<Request>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_sum_to_the_whole_and_requests_have_their_share() {
        let mut l = Ledger::new(true);
        l.until(Class::Handshake, 10);
        l.ask(4, [1, 2]);
        l.until(Class::Path, 20);
        l.until(Class::Path, 15);
        l.until(Class::ServerThinks, 70);
        l.answered([6, 9]);
        l.until(Class::ClientThinks, 100);
        l.ask(9, [6, 9]);
        l.until(Class::Rto, 300);
        l.turn((150, 250), Class::Rto, Class::Spurious);
        l.answered([7, 9]);
        let a = l.close();
        assert_eq!(a.budget.total(), 300);
        assert_eq!(a.budget.of(Class::Spurious), 100);
        let of = |r: &Request| (r.start_us, r.duration_us, r.budget_us.total());
        assert_eq!(
            a.requests.iter().map(of).collect::<Vec<_>>(),
            [(10, 60, 60), (100, 200, 200)]
        );
        assert_eq!(
            (a.requests[0].request_bytes, a.requests[0].response_bytes),
            (5, 7)
        );
        assert_eq!(a.asked.total(), 260);
        assert_eq!(a.waited().of(Class::Handshake), 10);
        assert_eq!(a.spans.first().map(|s| s.class), Some(Class::Handshake));
        assert!(a.spans.windows(2).all(|w| w[0].to_us == w[1].from_us));
    }

    #[test]
    fn the_repair_of_a_request_that_was_lost_before_the_capture_is_a_wait() {
        let mut l = Ledger::new(false);
        l.until(Class::Rto, 300);
        l.ask(4, [1, 2]);
        l.until(Class::Path, 320);
        l.answered([1, 9]);
        l.until(Class::ClientThinks, 400);
        let waited = l.close().waited();
        assert_eq!((waited.of(Class::Rto), waited.total()), (300, 320));
        // A server that only pushes: no client waits.
        let mut l = Ledger::new(false);
        l.until(Class::Rto, 300);
        assert!(l.close().waited().is_empty());
    }

    #[test]
    fn requests_beyond_the_bound_are_counted() {
        let mut l = Ledger::new(false);
        for i in 0..LISTED as u64 + 3 {
            l.ask(i, [i, 0]);
            l.until(Class::ServerThinks, l.cursor() + 5);
            l.answered([i + 1, 0]);
        }
        let a = l.close();
        assert_eq!((a.requests.len(), a.not_listed), (LISTED, 3));
        assert_eq!(a.asked.of(Class::ServerThinks), (LISTED as u64 + 3) * 5);
    }
}
