//! Capture files: pcap, pcapng, the text of `tcpdump -n`, gzip and zstd around them.
//!
//! Level 1 of the map. Works over [`std::io::Read`] and [`std::io::Write`]; opens nothing itself.
//! A damaged file gives every record before the damage, then one [`Error`] with its offset.

mod buffer;
mod error;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod text;
mod unpack;
mod writer;

pub use error::Error;
pub use reader::Reader;
pub use record::{Body, Interface, Record};
pub use writer::{PcapWriter, PcapngWriter};
