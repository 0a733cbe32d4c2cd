//! sysctl names and their text: sets a [`Sysctl`] as `sysctl -w NAME=VALUE` would.

use crate::cc::congestion_controls;
use crate::fastopen::FastOpenKeys;
use crate::sysctl::Sysctl;

/// Something that a sysctl's text can be read into.
trait Value: Sized {
    fn read(text: &str) -> Result<Self, String>;
}

/// A number as the kernel reads it: decimal, or hexadecimal with 0x.
fn number<T: TryFrom<i128>>(text: &str) -> Result<T, String> {
    let word = text.trim();
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let value = value.ok().filter(|_| !digits.contains('+')).map(i128::from);
    value
        .map(|value| if negative { -value } else { value })
        .and_then(|value| value.try_into().ok())
        .ok_or_else(|| format!("{text:?} is not a number in its range"))
}

impl Value for bool {
    fn read(text: &str) -> Result<Self, String> {
        number::<u8>(text).map(|n| n != 0)
    }
}

macro_rules! plain {
    ($($kind:ty),+) => {
        $(impl Value for $kind {
            fn read(text: &str) -> Result<Self, String> {
                number(text)
            }
        })+
    };
}
plain!(u8, i8, u64);

impl Value for u32 {
    /// Linux's `int` and `unsigned int`: -1 stands for the largest.
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "-1" => Ok(u32::MAX),
            other => number(other),
        }
    }
}

impl Value for String {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("it is empty".into()),
            word => Ok(word.into()),
        }
    }
}

impl Value for Option<FastOpenKeys> {
    fn read(text: &str) -> Result<Self, String> {
        let keys = FastOpenKeys::read(text);
        keys.map(Some)
            .ok_or_else(|| "a key is four words in hexadecimal, joined by `-`".into())
    }
}

impl<T: Value + Copy + Default, const N: usize> Value for [T; N] {
    fn read(text: &str) -> Result<Self, String> {
        let mut values = [T::default(); N];
        let mut words = text.split_whitespace();
        for value in &mut values {
            let word = words.next().ok_or_else(|| format!("it has {N} numbers"))?;
            *value = T::read(word)?;
        }
        match words.next() {
            Some(more) => Err(format!("{more:?} is one too many")),
            None => Ok(values),
        }
    }
}

impl Value for u16 {
    fn read(text: &str) -> Result<Self, String> {
        number(text)
    }
}

macro_rules! table {
    ($($place:literal: $($field:ident),+;)+) => {
        impl Sysctl {
            /// Sets the sysctl of this full name (`net.ipv4.tcp_sack`).
            ///
            /// # Errors
            /// The name is none of TCP's, or the text is no value for it: why.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
                let mut new = self.clone();
                new.put(name, text)?;
                new.bounded(name)?;
                *self = new;
                Ok(())
            }

            fn put(&mut self, name: &str, text: &str) -> Result<(), String> {
                match name {
                    $($(concat!($place, ".", stringify!($field)) => self.$field = Value::read(text)?,)+)+
                    _ => return Err("the model has no such sysctl".into()),
                }
                Ok(())
            }

            /// Full names of all that [`Sysctl::set`] knows.
            pub const NAMES: &'static [&'static str] =
                &[$($(concat!($place, ".", stringify!($field)),)+)+];
        }
    };
}

table! {
    "net.ipv4": tcp_sack, tcp_dsack, tcp_fack, tcp_timestamps, tcp_window_scaling, tcp_ecn, tcp_ecn_fallback,
        tcp_rmem, tcp_wmem, tcp_adv_win_scale, tcp_app_win, tcp_moderate_rcvbuf, tcp_congestion_control,
        tcp_early_retrans, tcp_recovery, tcp_frto, tcp_reordering, tcp_max_reordering, tcp_retries1, tcp_retries2,
        tcp_orphan_retries, tcp_syn_retries, tcp_synack_retries, tcp_syn_linear_timeouts, tcp_syncookies,
        tcp_max_syn_backlog, tcp_abort_on_overflow, tcp_keepalive_time, tcp_keepalive_intvl, tcp_keepalive_probes,
        tcp_fin_timeout, tcp_slow_start_after_idle, tcp_no_ssthresh_metrics_save, tcp_no_metrics_save,
        tcp_autocorking, tcp_limit_output_bytes, tcp_tso_win_divisor, tcp_min_tso_segs, tcp_tso_rtt_log,
        tcp_pacing_ss_ratio, tcp_pacing_ca_ratio, tcp_min_rtt_wlen, tcp_min_snd_mss, tcp_base_mss,
        tcp_mtu_probing, tcp_mtu_probe_floor, tcp_probe_threshold, tcp_probe_interval,
        tcp_comp_sack_delay_ns, tcp_comp_sack_slack_ns, tcp_comp_sack_nr, tcp_challenge_ack_limit,
        tcp_invalid_ratelimit, tcp_notsent_lowat, tcp_thin_linear_timeouts, tcp_retrans_collapse,
        tcp_workaround_signed_windows, tcp_rfc1337, tcp_tw_reuse, tcp_rto_min_us, tcp_pingpong_thresh,
        tcp_reflect_tos, tcp_stdurg, tcp_shrink_window, tcp_fastopen,
        tcp_fastopen_key, tcp_fastopen_blackhole_timeout_sec, ip_local_port_range;
    "net.core": rmem_max, wmem_max, somaxconn,
        sysctl_caqm_enable, sysctl_caqm_filter_nics, sysctl_caqm_cc_type, sysctl_caqm_alpha_fx_8, sysctl_caqm_beta,
        sysctl_caqm_min_cwnd, sysctl_caqm_mtu_unit, sysctl_caqm_data_hint_unit, sysctl_caqm_ack_hint_unit,
        sysctl_caqm_rtt_standard, sysctl_caqm_tpid, sysctl_caqm_debug_info;
}

impl Sysctl {
    /// Bounds that the kernel has for a value (net/ipv4/sysctl_net_ipv4.c), where ours must have them too.
    fn bounded(&self, name: &str) -> Result<(), String> {
        let good = match name {
            "net.ipv4.tcp_rmem" => self
                .tcp_rmem
                .iter()
                .all(|&n| (1..=i32::MAX as u32).contains(&n)),
            "net.ipv4.tcp_wmem" => self
                .tcp_wmem
                .iter()
                .all(|&n| (1..=i32::MAX as u32).contains(&n)),
            "net.ipv4.tcp_adv_win_scale" => (-31..=31).contains(&self.tcp_adv_win_scale),
            "net.ipv4.tcp_syn_retries" => (1..=127).contains(&self.tcp_syn_retries),
            "net.ipv4.tcp_keepalive_time" | "net.ipv4.tcp_keepalive_intvl" => {
                self.tcp_keepalive_time.max(self.tcp_keepalive_intvl) <= 4_000_000
            }
            "net.ipv4.tcp_fin_timeout" => self.tcp_fin_timeout <= 4_000_000,
            "net.ipv4.tcp_reordering" => self.tcp_reordering > 0,
            "net.ipv4.ip_local_port_range" => {
                let [low, high] = self.ip_local_port_range;
                (1..=high).contains(&low)
            }
            "net.ipv4.tcp_congestion_control" => return self.knows_congestion(),
            _ => self.caqm_bounded(name),
        };
        match good {
            true => Ok(()),
            false => Err("the value is out of its range".into()),
        }
    }
}

impl Sysctl {
    /// `tcp_set_default_congestion_control()`: ENOENT for what is not there.
    fn knows_congestion(&self) -> Result<(), String> {
        let name = &self.tcp_congestion_control;
        if congestion_controls().any(|known| known == name) {
            return Ok(());
        }
        let known: Vec<&str> = congestion_controls().collect();
        Err(format!(
            "no congestion control `{name}`; the model has {}",
            known.join(", ")
        ))
    }

    /// Ranges of openEuler's net/core/sysctl_net_caqm.h, but that an EtherType is at least 0x0600 (IEEE 802.3).
    fn caqm_bounded(&self, name: &str) -> bool {
        const INT_MAX: u32 = i32::MAX as u32;
        let Some(name) = name.strip_prefix("net.core.sysctl_caqm_") else {
            return true;
        };
        match name {
            // One number there has 31 bits.
            "filter_nics" => self.sysctl_caqm_filter_nics <= INT_MAX.into(),
            "cc_type" => self.sysctl_caqm_cc_type <= 7,
            "alpha_fx_8" => (1..=32_767).contains(&self.sysctl_caqm_alpha_fx_8),
            "beta" => (1..=INT_MAX).contains(&self.sysctl_caqm_beta),
            "min_cwnd" => (1..=INT_MAX).contains(&self.sysctl_caqm_min_cwnd),
            "mtu_unit" => (64..=9000).contains(&self.sysctl_caqm_mtu_unit),
            "data_hint_unit" => (1..=1024).contains(&self.sysctl_caqm_data_hint_unit),
            "ack_hint_unit" => (1..=1024).contains(&self.sysctl_caqm_ack_hint_unit),
            "rtt_standard" => (1..=INT_MAX).contains(&self.sysctl_caqm_rtt_standard),
            "tpid" => self.sysctl_caqm_tpid >= 0x0600,
            "debug_info" => self.sysctl_caqm_debug_info <= INT_MAX,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_those_of_the_kernel() {
        let mut s = Sysctl::default();
        s.set("net.ipv4.tcp_rmem", "4096 1000\t6000").unwrap();
        s.set("net.ipv4.tcp_ecn", "1").unwrap();
        s.set("net.ipv4.tcp_congestion_control", "bbr").unwrap();
        s.set("net.core.rmem_max", "5").unwrap();
        s.set("net.ipv4.tcp_notsent_lowat", "-1").unwrap();
        s.set("net.ipv4.tcp_fastopen", "0x70403").unwrap();
        assert_eq!(s.tcp_fastopen, 0x7_0403);
        assert_eq!(s.tcp_rmem, [4096, 1000, 6000]);
        assert_eq!(
            (s.tcp_ecn, s.rmem_max, s.tcp_notsent_lowat),
            (1, 5, u32::MAX)
        );
        assert_eq!(s.tcp_congestion_control, "bbr");
        for (name, text) in [
            ("net.ipv4.tcp_nonsense", "1"),
            ("net.ipv4.tcp_rmem", "1 2"),
            ("net.ipv4.tcp_rmem", "1 2 3 4"),
            ("net.ipv4.tcp_wmem", "0 2 3"),
            ("net.ipv4.tcp_sack", "yes"),
            ("net.ipv4.tcp_sack", "0x"),
            ("net.ipv4.tcp_sack", "--1"),
            ("net.ipv4.tcp_fastopen_key", "1-2-3"),
            ("net.ipv4.tcp_adv_win_scale", "77"),
            ("net.ipv4.ip_local_port_range", "9 8"),
            ("net.core.sysctl_caqm_filter_nics", "0x80000000"),
            ("net.ipv4.tcp_congestion_control", "bbr3"),
        ] {
            let before = s.clone();
            assert!(s.set(name, text).is_err(), "{name} = {text}");
            assert_eq!(s, before, "{name} = {text}");
        }
    }

    /// Every name takes the text of its default.
    #[test]
    fn every_name_can_be_set() {
        for name in Sysctl::NAMES {
            let text = match *name {
                "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" => "1 2 3",
                "net.ipv4.ip_local_port_range" => "1 2",
                "net.ipv4.tcp_fastopen_key" => "1-2-3-4",
                "net.ipv4.tcp_congestion_control" => "dctcp",
                "net.core.sysctl_caqm_mtu_unit" => "1024",
                "net.core.sysctl_caqm_tpid" => "0x8200",
                _ => "1",
            };
            assert_eq!(Sysctl::default().set(name, text), Ok(()), "{name}");
        }
    }
}
