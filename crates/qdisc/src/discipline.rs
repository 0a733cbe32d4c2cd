//! What each kind of qdisc has: its words, and its queue. [`crate::kinds`] is the list of them.

use tcplab_base::Instant;

use crate::kinds::Kind;
use crate::netlink::{Message, ROOT, handle, number};
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::words::{Lexer, Word, Wrong};

/// The settings of a kind: what tc's words say, and the same for a kernel.
pub(crate) trait Words: Sized {
    /// The first word.
    const NAME: &'static str;
    /// What there is of tc's; `docs/qdisc.md` has it as a table.
    const SUPPORTED: &'static str;
    /// The words that may stand behind it.
    const WORDS: &'static [&'static str];
    /// `WORDS -> OTHER WORDS`, at least one: tests of all kinds begin with the first and change to the second.
    const EXAMPLES: &'static [&'static str];

    /// Reads the words behind the first one.
    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>>;

    /// Reads the words that are left, each by its row.
    fn read<'a, S>(
        said: &mut S,
        table: &[Word<S>],
        words: &mut Lexer<'a>,
    ) -> Result<(), Wrong<'a>> {
        while let Some(word) = words.next_word() {
            let Some((_, take)) = table.iter().find(|(name, _)| *name == word) else {
                let what = format!("a word of {}", Self::NAME);
                return Err(Wrong::unknown(word, &what, Self::WORDS));
            };
            take(said, words)?;
        }
        Ok(())
    }

    /// The qdisc of its first classes, and their number; `None`: the kernel's default.
    fn child(&self) -> Option<(&Kind, u8)> {
        None
    }

    /// Whether it has to know the rate of the wire behind it, and its words do not say one.
    fn asks_rate(&self) -> bool {
        false
    }

    /// Why no kernel has it as it stands; none: kernels have it.
    fn not_in_kernels(&self) -> Option<&'static str> {
        self.child()?.0.not_in_kernels()
    }

    /// `TCA_OPTIONS` (linux/pkt_sched.h); none: the kernel's defaults.
    fn options(&self) -> Option<Vec<u8>>;

    /// The messages that create it at the root of an interface: `tc qdisc add dev DEV root handle 1: ...`, then `tc
    /// qdisc add dev DEV parent 1:N ...` for each child.
    fn messages(&self) -> Vec<Message> {
        let mut root = Message::qdisc(ROOT, Self::NAME, self.options());
        let Some((child, classes)) = self.child() else {
            return vec![root];
        };
        root.handle = handle(0);
        let classes = (1..=classes.into()).map(handle);
        let children = classes.map(|class| child.at(class));
        std::iter::once(root).chain(children).collect()
    }

    /// What a kernel's qdisc counted, from its `TCA_STATS_QUEUE` and `TCA_STATS_APP`: what [`Discipline::own`] and
    /// [`Discipline::tins`] name, as far as kernels say so.
    fn counted(queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        let _ = (queue, app);
        Default::default()
    }
}

/// A queue that some settings make.
pub(crate) trait Configure<S>: Sized {
    /// An empty one; its draws and hashes are from the stream `NAME` of this seed.
    fn new(settings: &S, device: Device, seed: u64, name: &str) -> Self;

    /// Other settings, as [`crate::Qdisc::change`] has them; false: it refuses them, and nothing has changed.
    fn change(&mut self, settings: &S, device: Device) -> bool;
}

impl<S, Q: Configure<S>> Configure<S> for Box<Q> {
    fn new(settings: &S, device: Device, seed: u64, name: &str) -> Self {
        Self::new(Q::new(settings, device, seed, name))
    }

    fn change(&mut self, settings: &S, device: Device) -> bool {
        Q::change(self, settings, device)
    }
}

/// A queue as an interface has it.
pub(crate) trait Discipline<P> {
    /// A packet arrives. False: it was dropped, or another one in its place.
    fn enqueue(&mut self, now: Instant, packet: P) -> bool;

    /// The interface asks for a packet.
    fn dequeue(&mut self, now: Instant) -> Dequeued<P>;

    /// What it has done so far.
    fn stats(&self) -> Stats;

    /// What only its kind counts.
    fn own(&self) -> Named {
        Named::new()
    }

    /// The same of its tins, lowest priority first.
    fn tins(&self) -> Vec<Named> {
        Vec::new()
    }
}

/// Counters by tc's names.
pub type Named = Vec<(&'static str, u64)>;

/// A counter that the kernel's qdisc has too: tc's name, its place and size in the kernel's structure, and its value here.
pub(crate) type Field<T> = (&'static str, usize, usize, fn(&T) -> u64);

/// The counters of ours.
pub(crate) fn named<T>(fields: &[Field<T>], of: &T) -> Named {
    let one = |(name, _, _, value): &Field<T>| (*name, value(of));
    fields.iter().map(one).collect()
}

/// The counters of a kernel's structure.
pub(crate) fn read<T>(fields: &[Field<T>], app: &[u8]) -> Named {
    let one = |(name, at, size, _): &Field<T>| (*name, number(app, *at, *size));
    fields.iter().map(one).collect()
}
