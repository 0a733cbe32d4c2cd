//! Congestion control: one file an algorithm, one row of the list below.
//!
//! `ops.rs` is what an algorithm is (Linux's `struct tcp_congestion_ops`) and what it sees of its connection, `calls.rs`
//! who calls it. `snd_cwnd` and `snd_ssthresh` have one writer, `window.rs`; `recovery/` calls it.

mod bbr;
mod calls;
pub(crate) mod caqm;
mod cubic;
mod dctcp;
pub mod external;
mod hystart;
mod ops;
mod rate;
mod reno;
mod scalable;
mod window;

#[cfg(test)]
mod tests;

use crate::endpoint::{Snd, Stats, Tune};
use crate::pack::{Pack, Packer, Unpacker};
use crate::recovery::CaState;
use crate::sysctl::Sysctl;
pub(crate) use ops::{CaEvent, CongestionControl, Control, Echo, RateSample};
pub(crate) use window::INFINITE_SSTHRESH;

/// The enum of all algorithms and its calls. It stands in for each of them without a pointer: an ACK makes several calls.
macro_rules! congestion_controls {
    (
        by_name { $( $(#[$doc:meta])* $name:literal => $variant:ident($state:ty), )* }
        fallen_back { $( $(#[$back_doc:meta])* $back_name:literal => $back:ident($back_state:ty), )* }
        from_outside { $(#[$own_doc:meta])* $own:ident($own_state:ty) }
    ) => {
        /// Which algorithm, and its state.
        #[derive(Clone, Debug)]
        pub(crate) enum Congestion {
            $( $(#[$doc])* $variant($state), )*
            $( $(#[$back_doc])* $back($back_state), )*
            $(#[$own_doc])* $own($own_state),
        }

        /// The variants by number, for [`Pack`].
        enum Number { $($variant,)* $($back,)* }

        /// Names that a socket, a route or the sysctl can ask for.
        const NAMES: &[&str] = &[$($name),*];

        impl Congestion {
            /// Its first state; `None` for an unknown algorithm, or one that programs cannot select.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name {
                    $( $name => Some(Self::$variant(Default::default())), )*
                    _ => None,
                }
            }

            /// As getsockopt(TCP_CONGESTION) gives it.
            pub(crate) fn name(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $name, )*
                    $( Self::$back(_) => $back_name, )*
                    Self::$own(own) => own.name(),
                }
            }
        }

        congestion_controls!(calls $($variant)* $($back)* $own);
        congestion_controls!(pack $own: $($variant)* $($back)*);
    };
    (calls $($variant:ident)*) => {
        impl CongestionControl for Congestion {
            fn init(&mut self, c: &mut Control<'_, '_>) -> Option<Congestion> {
                match self { $(Self::$variant(cc) => cc.init(c),)* }
            }
            #[inline]
            fn needs_ecn(&self) -> bool {
                match self { $(Self::$variant(cc) => cc.needs_ecn(),)* }
            }
            #[inline]
            fn controls_cwnd(&self) -> bool {
                match self { $(Self::$variant(cc) => cc.controls_cwnd(),)* }
            }
            #[inline]
            fn min_tso_segs(&self, tune: &Tune, sysctl: &Sysctl) -> u32 {
                match self { $(Self::$variant(cc) => cc.min_tso_segs(tune, sysctl),)* }
            }
            fn sndbuf_factor(&self) -> u32 {
                match self { $(Self::$variant(cc) => cc.sndbuf_factor(),)* }
            }
            fn ssthresh(&mut self, c: &Control<'_, '_>) -> u32 {
                match self { $(Self::$variant(cc) => cc.ssthresh(c),)* }
            }
            fn undo_cwnd(&mut self, c: &mut Control<'_, '_>) -> u32 {
                match self { $(Self::$variant(cc) => cc.undo_cwnd(c),)* }
            }
            fn set_state(&mut self, c: &mut Control<'_, '_>, state: CaState) {
                match self { $(Self::$variant(cc) => cc.set_state(c, state),)* }
            }
            #[inline]
            fn cwnd_event(&mut self, c: &mut Control<'_, '_>, event: CaEvent) -> Option<Echo> {
                match self { $(Self::$variant(cc) => cc.cwnd_event(c, event),)* }
            }
            #[inline]
            fn in_ack_event(&mut self, snd: &Snd, stats: &Stats) {
                match self { $(Self::$variant(cc) => cc.in_ack_event(snd, stats),)* }
            }
            #[inline]
            fn pkts_acked(&mut self, c: &mut Control<'_, '_>, rtt_us: i32) {
                match self { $(Self::$variant(cc) => cc.pkts_acked(c, rtt_us),)* }
            }
            #[inline]
            fn cong_avoid(&mut self, c: &mut Control<'_, '_>, acked: u32, rs: &RateSample) {
                match self { $(Self::$variant(cc) => cc.cong_avoid(c, acked, rs),)* }
            }
            #[inline]
            fn cong_control(&mut self, c: &mut Control<'_, '_>, rs: &RateSample) {
                match self { $(Self::$variant(cc) => cc.cong_control(c, rs),)* }
            }
            fn memory(&self) -> usize {
                match self { $(Self::$variant(cc) => cc.memory(),)* }
            }
        }
    };
    (pack $own:ident: $($variant:ident)*) => {
        /// The algorithm by its number, then its state: as the other one's when that runs the same algorithm.
        impl Pack for Congestion {
            fn pack(&self, like: &Self, to: &mut Packer) {
                match (self, like) { $(
                    (Self::$variant(own), Self::$variant(like)) => {
                        to.put(Number::$variant as u64);
                        own.pack(like, to);
                    }
                    (Self::$variant(own), _) => {
                        to.put(Number::$variant as u64);
                        own.pack(&Default::default(), to);
                    }
                )*
                    (Self::$own(own), _) => unreachable!("{} is not packed", own.name()),
                }
            }

            fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
                let number = from.take();
                match like {
                    $( Self::$variant(like) if number == Number::$variant as u64 => {
                        return Self::$variant(Pack::unpack(like, from));
                    } )*
                    _ => {}
                }
                $( if number == Number::$variant as u64 {
                    return Self::$variant(Pack::unpack(&Default::default(), from));
                } )*
                Self::default()
            }
        }
    };
}

congestion_controls! {
    by_name {
        /// RFC 5681 (`tcp_cong.c`).
        "reno" => Reno(reno::Reno),
        /// RFC 9438 (`tcp_cubic.c`).
        "cubic" => Cubic(cubic::Cubic),
        /// RFC 8257 (`tcp_dctcp.c`).
        "dctcp" => Dctcp(dctcp::Dctcp),
        /// BBR version 1 (`tcp_bbr.c`); its state is large.
        "bbr" => Bbr(Box<bbr::Bbr>),
        /// CAQM, for what both ends agreed on it (openEuler `tcp_caqm.c`).
        "caqm" => Caqm(Box<caqm::Caqm>),
        /// Scalable TCP (`tcp_scalable.c`).
        "scalable" => Scalable(scalable::Scalable),
    }
    fallen_back {
        /// Reno, where only one end speaks CAQM.
        "caqm_reno" => CaqmReno(reno::Reno),
        /// Reno, where DCTCP has no ECN.
        "dctcp-reno" => DctcpReno(reno::Reno),
    }
    from_outside {
        /// One that the owner of the host has brought.
        External(Box<external::External>)
    }
}

impl Congestion {
    /// Its state can be packed: all of it is known here.
    #[inline]
    pub(crate) fn is_packable(&self) -> bool {
        !matches!(self, Self::External(_))
    }
}

impl Default for Congestion {
    fn default() -> Self {
        Self::Reno(reno::Reno)
    }
}

/// The names of all congestion controls, as `tcp_available_congestion_control` would list them.
pub fn congestion_controls() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}
