//! Do two stacks agree? What their hosts sent at one point, packet by packet.

pub mod compare;
pub mod packets;
