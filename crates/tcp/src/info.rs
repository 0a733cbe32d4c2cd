//! getsockopt(TCP_INFO): Linux 6.1's `struct tcp_info` by the kernel's names, in the structure's order and units
//! (`tcp_get_info()`).
//!
//! Units: microseconds for names that end in `rtt`, `rto`, `ato`, `rttvar` and `_limited`, and for `busy_time`;
//! milliseconds for names that begin with `last_`. Windows and `bytes` are bytes, rates bytes a second, other fields
//! packets. A number beyond `i64::MAX` (no pacing limit) is `i64::MAX`.

use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use crate::options::{Ecn, FastOpenState};
use crate::recovery::CaState;

/// Fields of Linux 6.1's structure.
const FIELDS: usize = 56;

/// The list under construction.
struct List {
    fields: Vec<(&'static str, i64)>,
}

impl List {
    fn put(&mut self, name: &'static str, value: impl Into<i64>) {
        self.fields.push((name, value.into()));
    }

    fn big(&mut self, name: &'static str, value: u64) {
        self.fields
            .push((name, i64::try_from(value).unwrap_or(i64::MAX)));
    }
}

impl Endpoint {
    /// getsockopt(TCP_INFO): names and values.
    pub fn info(&self, cx: &Cx<'_>) -> Vec<(&'static str, i64)> {
        let mut list = List {
            fields: Vec::with_capacity(FIELDS),
        };
        self.info_state(&mut list);
        self.info_times(cx, &mut list);
        self.info_rates(&mut list);
        self.info_sums(cx, &mut list);
        list.fields
    }

    fn info_state(&self, list: &mut List) {
        let (n, l) = (&self.neg, &self.loss);
        let scales = match n.wscale_ok {
            true => (self.snd.snd_wscale, self.snd.rcv_wscale),
            false => (0, 0),
        };
        let bits = [
            n.tstamp_ok,
            n.sack_ok,
            n.wscale_ok,
            n.ecn_flags.intersects(Ecn::OK),
            n.ecn_flags.intersects(Ecn::SEEN),
            self.neg.fast_open.intersects(FastOpenState::DATA_ACKED),
        ];
        let options = bits
            .iter()
            .rev()
            .fold(0_u8, |all, &bit| all << 1 | u8::from(bit));
        list.put("tcpi_state", self.state_number());
        list.put("tcpi_ca_state", ca_number(l.ca_state));
        list.put("tcpi_retransmits", l.retransmits);
        list.put("tcpi_probes", l.probes_out);
        list.put("tcpi_backoff", self.rtt.backoff);
        list.put("tcpi_options", options);
        list.put("tcpi_snd_wscale", scales.0);
        list.put("tcpi_rcv_wscale", scales.1);
        list.put("tcpi_delivery_rate_app_limited", self.tune.rate_app_limited);
        list.put("tcpi_fastopen_client_fail", self.neg.fast_open.failure());
    }

    fn info_times(&self, cx: &Cx<'_>, list: &mut List) {
        let (clock, l, now) = (&cx.host.clock, &self.loss, cx.jiffies32());
        // jiffies_to_msecs(): what never happened is long ago, modulo 2^32.
        let ago = |jiffy: u32| now.wrapping_sub(jiffy).wrapping_mul(1000 / clock.hz);
        list.put("tcpi_rto", clock.micros(self.rtt.rto));
        list.put("tcpi_ato", clock.micros(self.ack.ato));
        list.put("tcpi_snd_mss", self.snd.mss_cache);
        list.put("tcpi_rcv_mss", self.ack.rcv_mss);
        list.put("tcpi_unacked", l.packets_out);
        list.put("tcpi_sacked", l.sacked_out);
        list.put("tcpi_lost", l.lost_out);
        list.put("tcpi_retrans", l.retrans_out);
        list.put("tcpi_fackets", 0);
        list.put("tcpi_last_data_sent", ago(self.snd.lsndtime));
        list.put("tcpi_last_ack_sent", 0);
        list.put("tcpi_last_data_recv", ago(self.ack.lrcvtime));
        list.put("tcpi_last_ack_recv", ago(self.rcv.rcv_tstamp));
        list.put("tcpi_pmtu", self.snd.pmtu);
        list.put("tcpi_rcv_ssthresh", self.rcv.rcv_ssthresh);
        list.put("tcpi_rtt", self.rtt.srtt_us >> 3);
        list.put("tcpi_rttvar", self.rtt.mdev_us >> 2);
        list.put("tcpi_snd_ssthresh", self.snd.snd_ssthresh);
        list.put("tcpi_snd_cwnd", self.snd.snd_cwnd);
        list.put("tcpi_advmss", self.rcv.advmss);
        list.put("tcpi_reordering", l.reordering);
        list.put("tcpi_rcv_rtt", self.rcv.rtt_us >> 3);
        list.put("tcpi_rcv_space", self.rcv.space);
        list.put("tcpi_total_retrans", self.stats.total_retrans);
    }

    fn info_rates(&self, list: &mut List) {
        let s = &self.stats;
        list.big("tcpi_pacing_rate", self.tune.pacing_rate());
        let most = match self.tune.max_pacing_rate {
            u32::MAX => u64::MAX,
            most => u64::from(most),
        };
        list.big("tcpi_max_pacing_rate", most);
        list.big("tcpi_bytes_acked", s.bytes_acked);
        list.big("tcpi_bytes_received", s.bytes_received);
        list.put("tcpi_segs_out", s.segs_out);
        list.put("tcpi_segs_in", s.segs_in);
        let unsent = self.snd.write_seq.distance(self.snd.snd_nxt).max(0);
        list.put("tcpi_notsent_bytes", unsent);
        list.put("tcpi_min_rtt", self.rtt.min_rtt());
        list.put("tcpi_data_segs_in", s.data_segs_in);
        list.put("tcpi_data_segs_out", s.data_segs_out);
        let (packets, us) = (self.tune.rate_delivered, self.tune.rate_interval_us);
        let bytes = u64::from(packets) * u64::from(self.snd.mss_cache) * 1_000_000;
        list.big(
            "tcpi_delivery_rate",
            bytes.checked_div(u64::from(us)).unwrap_or(0),
        );
    }

    fn info_sums(&self, cx: &Cx<'_>, list: &mut List) {
        let s = &self.stats;
        let mut spent = [0_u64; 3];
        let running = u64::from(cx.jiffies32().wrapping_sub(s.chrono.start));
        let us = 1_000_000 / u64::from(cx.host.clock.hz);
        for (n, (sum, &jiffies)) in spent.iter_mut().zip(&s.chrono.stat).enumerate() {
            let now = u64::from(s.chrono.kind as usize == n + 1) * running;
            *sum = (u64::from(jiffies) + now) * us;
        }
        list.big("tcpi_busy_time", spent.iter().sum());
        list.big("tcpi_rwnd_limited", spent[1]);
        list.big("tcpi_sndbuf_limited", spent[2]);
        list.put("tcpi_delivered", s.delivered);
        list.put("tcpi_delivered_ce", s.delivered_ce);
        list.big("tcpi_bytes_sent", s.bytes_sent);
        list.big("tcpi_bytes_retrans", s.bytes_retrans);
        list.put("tcpi_dsack_dups", s.dsack_dups);
        list.put("tcpi_reord_seen", s.reord_seen);
        list.put("tcpi_rcv_ooopack", s.rcv_ooopack);
        list.put("tcpi_snd_wnd", self.snd.snd_wnd);
    }

    /// The number of its state in include/net/tcp_states.h.
    fn state_number(&self) -> u8 {
        match self.state {
            State::Established => 1,
            State::SynSent => 2,
            State::SynRecv => 3,
            State::FinWait1 => 4,
            State::FinWait2 => 5,
            State::TimeWait => 6,
            State::Close => 7,
            State::CloseWait => 8,
            State::LastAck => 9,
            State::Closing => 11,
        }
    }
}

/// The number of `enum tcp_ca_state`.
fn ca_number(state: CaState) -> u8 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_connection_has_all_fields() {
        let fields = crate::stack::tests::syn_sent(|ep, cx| ep.info(cx));
        assert_eq!(fields.len(), FIELDS);
        let get = |name| fields.iter().find(|f| f.0 == name).unwrap().1;
        assert_eq!(get("tcpi_state"), 2);
        assert_eq!(get("tcpi_rto"), 1_000_000);
        assert_eq!(get("tcpi_unacked"), 1);
        assert_eq!(get("tcpi_snd_cwnd"), 10);
        assert_eq!(get("tcpi_min_rtt"), i64::from(u32::MAX));
    }
}
