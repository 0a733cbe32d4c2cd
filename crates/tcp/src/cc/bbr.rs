//! BBR version 1 (Linux tcp_bbr.c).

use super::RateSample;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::recovery::CaState;

/// `struct bbr`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bbr {}

impl Endpoint {
    pub(super) fn bbr_init(&mut self, _cx: &Cx<'_>) {}
    pub(super) fn bbr_min_tso_segs(&self) -> u32 {
        2
    }
    pub(super) fn bbr_ssthresh(&mut self) -> u32 {
        self.snd.snd_ssthresh
    }
    pub(super) fn bbr_undo_cwnd(&mut self) -> u32 {
        self.snd.snd_cwnd
    }
    pub(super) fn bbr_set_state(&mut self, _state: CaState) {}
    pub(super) fn bbr_tx_start(&mut self, _cx: &Cx<'_>) {}
    pub(super) fn bbr_main(&mut self, _cx: &Cx<'_>, _rs: &RateSample) {}
}
