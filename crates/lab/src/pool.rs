//! Numbered pieces of work on several processors at once: the points of a campaign, the groups of a
//! population, the cases of a drill.
//!
//! Results are handed over by one thread at a time, in the order in which pieces finish. The
//! receiver sorts them by number, so the outcome does not depend on the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::LabError;

/// What is shared by the threads.
struct Shared<T> {
    next: AtomicUsize,
    count: usize,
    take: Mutex<T>,
    fatal: Mutex<Option<LabError>>,
}

/// Does pieces 0 to `count`, each once. There is a thread for each of `places` (an empty one has no place of its own): it
/// makes a worker there and does pieces with it. `take` gets what each piece came to.
///
/// # Errors
/// The first error of a worker, a piece or `take`; no piece is begun after it.
pub(crate) fn each<W, D>(
    count: usize,
    places: &[Option<usize>],
    worker: impl Fn(Option<usize>) -> Result<W, LabError> + Sync,
    piece: impl Fn(&mut W, usize) -> Result<D, LabError> + Sync,
    take: impl FnMut(usize, D) -> Result<(), LabError> + Send,
) -> Result<(), LabError> {
    let shared = Shared {
        next: AtomicUsize::new(0),
        count,
        take: Mutex::new(take),
        fatal: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        for place in places.iter().take(count.max(1)) {
            let (shared, worker, piece) = (&shared, &worker, &piece);
            scope.spawn(move || {
                if let Err(e) = worker(*place).and_then(|worker| shared.go(worker, piece)) {
                    shared.fail(e);
                }
            });
        }
    });
    shared
        .fatal
        .into_inner()
        .unwrap_or(None)
        .map_or(Ok(()), Err)
}

/// So many threads, each wherever the system puts it.
pub(crate) fn anywhere(jobs: usize) -> Vec<Option<usize>> {
    vec![None; jobs.max(1)]
}

/// As many threads, each on a processor: a guest that moves between them takes three times as long.
pub(crate) fn processors(jobs: usize) -> Vec<Option<usize>> {
    let allowed = tcplab_os::cpu::allowed();
    let place = |n: usize| allowed.get(n % allowed.len().max(1)).copied();
    (0..jobs.max(1)).map(place).collect()
}

impl<T> Shared<T> {
    fn go<W, D>(
        &self,
        mut worker: W,
        piece: &impl Fn(&mut W, usize) -> Result<D, LabError>,
    ) -> Result<(), LabError>
    where
        T: FnMut(usize, D) -> Result<(), LabError>,
    {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.count {
                return Ok(());
            }
            let done = piece(&mut worker, number)?;
            // Poisoned: another thread panics, and the scope with it.
            if let Ok(mut take) = self.take.lock() {
                take(number, done)?;
            }
        }
    }

    fn fail(&self, e: LabError) {
        self.next.store(self.count, Ordering::Relaxed);
        if let Ok(mut fatal) = self.fatal.lock() {
            fatal.get_or_insert(e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(what: usize) -> LabError {
        LabError::Wrong(what.to_string())
    }

    #[test]
    fn every_piece_is_done_once_and_taken_once() {
        for jobs in [1, 3, 40] {
            let mut taken = Vec::new();
            let done = each(
                20,
                &anywhere(jobs),
                |_| Ok(()),
                |(), n| Ok(n * n),
                |n, square| {
                    taken.push((n, square));
                    Ok(())
                },
            );
            done.unwrap();
            taken.sort_unstable();
            assert!(taken.into_iter().eq((0..20).map(|n| (n, n * n))), "{jobs}");
        }
    }

    #[test]
    fn nothing_begins_after_an_error() {
        let begun = AtomicUsize::new(0);
        let piece = |(): &mut (), n| {
            begun.fetch_add(1, Ordering::Relaxed);
            if n == 3 { Err(wrong(n)) } else { Ok(n) }
        };
        let failed = each(1_000, &anywhere(1), |_| Ok(()), piece, |_, _| Ok(())).unwrap_err();
        assert_eq!((failed.to_string(), begun.into_inner()), ("3".into(), 4));
        let refused = each(
            9,
            &anywhere(2),
            |_| Err(wrong(7)),
            |(), n| Ok(n),
            |_, _| Ok(()),
        );
        assert_eq!(refused.unwrap_err().to_string(), "7");
        let full = each(
            9,
            &anywhere(1),
            |_| Ok(()),
            |(), n| Ok(n),
            |n, _| Err(wrong(n)),
        );
        assert_eq!(full.unwrap_err().to_string(), "0");
    }
}
