//! packetdrill scripts on real kernels: this machine's, or one in a guest in virtual time.

mod calls;
mod clock;
mod device;
mod fds;
mod message;
mod netlink;
mod network;
mod settings;
mod target;
#[cfg(test)]
mod tests;
mod workers;

pub use target::KernelTarget;
