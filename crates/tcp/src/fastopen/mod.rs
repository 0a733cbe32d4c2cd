//! TCP Fast Open (RFC 7413; Linux net/ipv4/tcp_fastopen.c): data with the SYN.

mod key;

pub use key::{FastOpenKey, FastOpenKeys};
