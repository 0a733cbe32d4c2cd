//! `child KIND WORDS`: what queues in a classful qdisc; the words behind it are the child's.
//!
//! tc takes one more command for each class: `tc qdisc add dev DEV parent 1:N KIND WORDS`.

use super::Kind;
use super::words::{Words, Wrong};

/// Kinds that may be a child.
pub(super) const CHILDREN: [&str; 6] = ["pfifo", "bfifo", "codel", "fq_codel", "cake", "caqm"];

/// Reads the words behind `child`.
pub(super) fn child<'a>(words: &mut Words<'a>) -> Result<Kind, Wrong<'a>> {
    let word = words.value()?;
    match CHILDREN.contains(&word) {
        true => Kind::parse(word, words),
        false => Err(Wrong::unknown(
            word,
            "a qdisc that a class takes here",
            &CHILDREN,
        )),
    }
}
