//! The applications of an experiment as state machines without input or output. Level 2 of the map.
//!
//! A [`Program`] is one end of one connection. Its driver asks for the next [`Step`], carries it out
//! however long that takes, and says how it went when it asks again. The program never calls anybody,
//! so the same definition runs on every stack. [`Drive`] is the one driver: on sockets of the
//! simulator or of a kernel, in a run or live ([`Host`]).
//!
//! ```
//! use tcplab_apps::{Program, Result, Step};
//! use tcplab_base::Instant;
//! use tcplab_plan::app::{AppKind, Extent, Reading};
//!
//! let echo = AppKind::Echo { size: 50, pause_ns: 0, until: Extent { count: Some(1), duration_ns: None } };
//! let mut client = Program::client(&echo, &Reading::default());
//! let now = Instant::from_nanos(0);
//! assert_eq!(client.next(now, Result::Done), Step::Write(50));
//! assert_eq!(client.next(now, Result::Done), Step::Read(50));
//! assert_eq!(client.next(now, Result::Done), Step::Close);
//! ```

mod bulk;
mod doing;
mod drive;
mod extent;
mod messages;
mod pair;
mod patience;
mod ping;
mod program;
mod reader;
mod record;
mod start;
mod stream;
mod transaction;
mod udp;
mod web;

pub use drive::{
    AckState, CHUNK, Drive, End, Ended, Foreign, Host, Interest, Read, Replayed, Timer,
};
pub use ping::Ping;
pub use program::{Flag, Message, Program, Result, Step};
pub use record::Record;
pub use start::{default_boot, start_phase};
