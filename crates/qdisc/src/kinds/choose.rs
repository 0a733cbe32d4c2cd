//! What chooses among the kinds: the macros write it from the lists of [`super`]. On a packet's way it is a `match`, nothing
//! dynamic.

/// Of each kind: its settings, and the queue of [`Queue`] that they make.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($settings:ty) => $queue:ident,)*) => {
        /// The kinds of qdiscs, with their settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Kind {
            $($(#[$doc])* $kind($settings),)*
        }

        /// The first word of each kind.
        pub const KINDS: [&str; [$(stringify!($kind)),*].len()] = [$(<$settings>::NAME),*];

        /// What there is of each kind of tc's.
        pub const SUPPORTED: [(&str, &str); KINDS.len()] =
            [$((<$settings>::NAME, <$settings>::SUPPORTED)),*];

        /// The words that may follow the kind; `None` for an unknown kind.
        pub fn words_of(kind: &str) -> Option<&'static [&'static str]> {
            match kind {
                $(<$settings>::NAME => Some(<$settings>::WORDS),)*
                _ => None,
            }
        }

        /// Pairs of words of each kind: tests begin with the first and change to the second.
        pub fn examples() -> impl Iterator<Item = [&'static str; 2]> + Clone {
            let all = [$(<$settings>::EXAMPLES),*].into_iter().flatten();
            all.map(|pair| pair.split_once(" -> ").map_or([*pair; 2], <[_; 2]>::from))
        }

        /// What a kernel's qdisc of this kind counted beside what all count, and its tins.
        pub(crate) fn counted(kind: &str, queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
            match kind {
                $(<$settings>::NAME => <$settings>::counted(queue, app),)*
                _ => Default::default(),
            }
        }

        impl Kind {
            /// Reads the words behind the first one.
            pub(crate) fn parse<'a>(kind: &'a str, words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
                match kind {
                    $(<$settings>::NAME => <$settings>::parse(words).map(Self::$kind),)*
                    other => Err(Wrong::unknown(other, "the kind of a qdisc", &KINDS)),
                }
            }

            /// Its first word.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => <$settings>::NAME,)*
                }
            }

            /// Whether it has to know the rate of the wire behind it, and its words do not say one.
            pub fn asks_rate(&self) -> bool {
                match self {
                    $(Self::$kind(settings) => settings.asks_rate(),)*
                }
            }

            /// Why no kernel has it as it stands; none: kernels have it.
            pub fn not_in_kernels(&self) -> Option<&'static str> {
                match self {
                    $(Self::$kind(settings) => settings.not_in_kernels(),)*
                }
            }

            /// What makes it at the root of an interface, one message after another.
            pub fn messages(&self) -> Vec<Message> {
                match self {
                    $(Self::$kind(settings) => settings.messages(),)*
                }
            }

            /// What makes it in a class.
            pub(crate) fn at(&self, class: u32) -> Message {
                let options = match self {
                    $(Self::$kind(settings) => settings.options(),)*
                };
                Message::qdisc(class, self.name(), options)
            }
        }

        impl<P: Packet> Queue<P> {
            pub fn new(kind: &Kind, device: Device, seed: u64, name: &str) -> Self {
                match kind {
                    $(Kind::$kind(settings) => {
                        Self::$queue(Configure::new(settings, device, seed, name))
                    })*
                }
            }

            pub fn change(&mut self, kind: &Kind, device: Device) -> bool {
                match (self, kind) {
                    $((Self::$queue(queue), Kind::$kind(settings)) => queue.change(settings, device),)*
                    _ => false,
                }
            }
        }
    };
}

/// Of each queue: its type.
macro_rules! queues {
    ($($queue:ident($of:ty),)*) => {
        /// A queue of any kind.
        #[derive(Clone, Debug)]
        pub(crate) enum Queue<P> {
            $($queue($of),)*
        }

        impl<P: Packet> Queue<P> {
            // Always: left to itself, the compiler makes a call of it.
            #[inline(always)]
            pub fn enqueue(&mut self, now: Instant, packet: P) -> bool {
                match self {
                    $(Self::$queue(queue) => queue.enqueue(now, packet),)*
                }
            }

            #[inline(always)]
            pub fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
                match self {
                    $(Self::$queue(queue) => queue.dequeue(now),)*
                }
            }

            pub fn stats(&self) -> Stats {
                match self {
                    $(Self::$queue(queue) => queue.stats(),)*
                }
            }

            pub fn own(&self) -> Named {
                match self {
                    $(Self::$queue(queue) => queue.own(),)*
                }
            }

            pub fn tins(&self) -> Vec<Named> {
                match self {
                    $(Self::$queue(queue) => queue.tins(),)*
                }
            }
        }
    };
}
