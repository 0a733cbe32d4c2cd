//! Which requests of a stream the page lists: the first ones and the slowest ones.

use std::cmp::Reverse;

use tcplab_analyze::report::Stream;

/// Keeps the first `most` requests and the `most` slowest ones, in their order, and counts the rest.
pub(super) fn choose(stream: &mut Stream, most: usize) {
    let all = &mut stream.requests;
    let before = all.len();
    if before > most {
        let mut slowest: Vec<usize> = (0..before).collect();
        slowest.sort_by_key(|&i| (Reverse(all[i].duration_us), i));
        let mut stays = vec![false; before];
        stays[..most].fill(true);
        slowest.iter().take(most).for_each(|&i| stays[i] = true);
        let mut stays = stays.into_iter();
        all.retain(|_| stays.next().unwrap_or(false));
    }
    stream.requests_not_listed += (before - stream.requests.len()) as u64;
    stream.requests.shrink_to_fit();
}
