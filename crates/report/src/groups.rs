//! Equal findings are told once, on the terminal and on the page.

use std::cmp::Reverse;

use tcplab_analyze::findings::Finding;

/// Groups by name, severity and the words of the cause, as indexes into `findings`: the most severe group first, of these the largest. A group
/// begins with its surest finding, which is told in full.
pub(crate) fn fold(findings: &[Finding]) -> Vec<Vec<usize>> {
    let stories: Vec<String> = findings.iter().map(|f| story(&f.cause)).collect();
    let kind = |i: usize| (findings[i].id, findings[i].severity, &stories[i]);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..findings.len() {
        match groups.iter_mut().find(|g| kind(g[0]) == kind(i)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    let sure = |i: usize| findings[i].confidence.unwrap_or(0.0);
    for group in &mut groups {
        let first = group.iter().copied().rev();
        if let Some(best) = first.max_by(|a, b| sure(*a).total_cmp(&sure(*b))) {
            group.retain(|i| *i != best);
            group.insert(0, best);
        }
    }
    groups.sort_by_key(|g| (findings[g[0]].severity, Reverse(g.len())));
    groups
}

/// A cause without its figures and addresses: findings of one name that tell something else are no group.
fn story(cause: &str) -> String {
    let figure = |word: &&str| word.contains(|c: char| c.is_ascii_digit() || c == ':');
    let words: Vec<&str> = cause.split_whitespace().filter(|w| !figure(w)).collect();
    words.join(" ")
}
