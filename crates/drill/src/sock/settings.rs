//! What shell lines set on the simulated host.

use super::Model;
use crate::target::{Setting, TargetError};
use tcplab_plan::point::Route;
use tcplab_tcp::{DeviceQueue, Sysctl, Unread, congestion_controls};

/// Sysctls that the model lacks and whose effect no script sees.
const HARMLESS: &[&str] = &[
    "net.ipv4.tcp_ecn_option",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.core.optmem_max",
    "net.core.default_qdisc",
    "net.ipv4.ip_forward",
    "net.ipv4.conf.all.rp_filter",
];

/// Words of `fq` that slow a connection down.
const RATES: [&str; 3] = ["maxrate", "low_rate_threshold", "defrate"];

/// Folders of /proc/sys.
const FOLDERS: [&str; 9] = [
    "abi", "crypto", "debug", "dev", "fs", "kernel", "net", "user", "vm",
];

/// Whether Linux has a sysctl; of those that the model lacks, that is known of few.
pub(super) fn has_sysctl(name: &str) -> Result<bool, TargetError> {
    let name = name.replace('/', ".");
    let is_known = Sysctl::rows().iter().any(|row| row.name == name);
    let folder = name.split('.').next().unwrap_or_default();
    match FOLDERS.contains(&folder) {
        false => Ok(false),
        true if is_known || name == folder || HARMLESS.contains(&name.as_str()) => Ok(true),
        true => Err(TargetError(format!("the model has no sysctl {name}"))),
    }
}

impl Model {
    pub(super) fn apply(&mut self, setting: &Setting) -> Result<(), TargetError> {
        match setting {
            Setting::Sysctl(name, value) | Setting::SysctlIfThere(name, value) => {
                self.sysctl(name, value)
            }
            Setting::RestoreSysctls => {
                self.stack.host.sysctl = self.sysctls.clone();
                Ok(())
            }
            Setting::FlushMetrics => {
                self.stack.forget_peers();
                Ok(())
            }
            Setting::Route(destination, words) => {
                self.network
                    .has_route_to(destination)
                    .map_err(TargetError)?;
                self.route(words)
            }
            Setting::Qdisc(words) => self.qdisc(words),
            Setting::Offload(name, on) => self.offload(name, *on),
            Setting::Mtu(bytes) => {
                self.network.mtu = *bytes;
                let route = self.stack.host.route.clone();
                self.stack.set_route(self.now, route, *bytes);
                Ok(())
            }
            Setting::Nothing => Ok(()),
        }
    }

    fn sysctl(&mut self, name: &str, value: &str) -> Result<(), TargetError> {
        let name = name.replace('/', ".");
        if name.ends_with("tcp_cubic.parameters.hystart_detect") && value.trim() == "3" {
            // What it is anyway: trains of ACKs and delay.
            return Ok(());
        }
        if let Some(unread) = Unread::of(&name, value) {
            return Err(TargetError(format!(
                "sysctl {name} = {value}: the model always acts as with {}",
                unread.acts_as
            )));
        }
        match self.stack.set_sysctl(&name, value) {
            Ok(()) => Ok(()),
            Err(_) if name == "net.ipv4.tcp_ecn" && matches!(value.trim(), "3" | "4" | "5") => {
                let what = format!("sysctl {name} = {value}: the model has no AccECN");
                Err(TargetError(what))
            }
            Err(_) if HARMLESS.contains(&name.as_str()) => Ok(()),
            Err(why) => Err(TargetError(format!("sysctl {name} = {value}: {why}"))),
        }
    }

    /// `ip route change DST ...`: metrics of the only route.
    fn route(&mut self, words: &[String]) -> Result<(), TargetError> {
        let mut route = Route::default();
        let mut rest = words.iter().map(String::as_str);
        while let Some(word) = rest.next() {
            let mut value = rest.next().unwrap_or_default();
            if value == "lock" {
                value = rest.next().unwrap_or_default();
            }
            let bad = || TargetError(format!("ip route: {word} {value} is not understood"));
            let number = || value.parse::<u32>().map_err(|_| bad());
            match word {
                "dev" if value != "tun0" => return Err(bad()),
                "via" | "dev" | "src" | "proto" | "scope" | "table" => {}
                "advmss" => route.advmss = Some(number()?),
                "mtu" => route.mtu = Some(number()?),
                "initcwnd" => route.initcwnd = Some(number()?),
                "initrwnd" => route.initrwnd = Some(number()?),
                "quickack" => route.quickack = Some(number()?),
                "congctl" if congestion_controls().all(|known| known != value) => {
                    // fib_metrics: EINVAL for a name that the kernel does not have.
                    return Err(TargetError(format!(
                        "ip route: the model has no congestion control {value}"
                    )));
                }
                "congctl" => route.congctl = Some(value.to_owned()),
                "rto_min" => route.rto_min_ns = Some(time_ns(value).ok_or_else(bad)?),
                _ => return Err(bad()),
            }
        }
        self.stack.set_route(self.now, route, self.network.mtu);
        Ok(())
    }

    /// The qdisc of the device. Queues do not fill in a script: one that takes nothing and one that paces show.
    fn qdisc(&mut self, words: &[String]) -> Result<(), TargetError> {
        let word = |at: usize| words.get(at).map(String::as_str);
        let limit = words.iter().position(|word| word == "limit");
        let limit = limit.and_then(|at| word(at + 1));
        let drops = limit.is_some_and(|limit| limit.trim_end_matches('p') == "0");
        let kind = word(0).unwrap_or_default();
        if let Some(rate) = words.iter().find(|word| RATES.contains(&word.as_str())) {
            return Err(TargetError(format!("the model's {kind} has no {rate}")));
        }
        if std::mem::replace(&mut self.qdisc, kind.to_owned()) == kind && words.len() == 1 {
            // qdisc_change() without options: a queue of the same kind stays as it is.
            return Ok(());
        }
        self.stack.host.queue = match word(0) {
            None => DeviceQueue::Quiet,
            Some("pfifo" | "bfifo" | "pfifo_fast" | "fq" | "fq_codel" | "codel") if drops => {
                DeviceQueue::Drops
            }
            Some("fq") if !words.iter().any(|word| word == "nopacing") => DeviceQueue::Paces,
            Some("pfifo" | "bfifo" | "pfifo_fast" | "fq" | "fq_codel" | "noqueue" | "codel") => {
                DeviceQueue::Quiet
            }
            Some(other) => return Err(TargetError(format!("the model has no qdisc {other}"))),
        };
        Ok(())
    }

    fn offload(&mut self, name: &str, on: bool) -> Result<(), TargetError> {
        match name {
            // TCP makes super-segments all the same (0a6b2a1dc2a2 of 4.17); they are cut in front of the device.
            "tso" | "gso" => {
                self.cuts = !on;
                Ok(())
            }
            "gro" | "lro" | "tx" | "rx" | "sg" => Ok(()),
            _ => Err(TargetError(format!("the model has no offload {name}"))),
        }
    }
}

/// A time of `ip route`: with a unit, or in milliseconds.
fn time_ns(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: i64 = digits.parse().ok()?;
    let unit = match text.get(digits.len()..)? {
        "" | "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "us" | "usec" => 1_000,
        "ns" => 1,
        _ => return None,
    };
    number.checked_mul(unit)
}
