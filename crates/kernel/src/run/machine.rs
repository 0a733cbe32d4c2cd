//! Sysctls that an experiment leaves to the machine: the model has the values of one release, a machine those that
//! somebody chose for it. Where they differ, stacks are compared that were not set alike.

use tcplab_os::sysctl;
use tcplab_plan::network::HOST_SYSCTLS;
use tcplab_tcp::{Sysctl, SysctlRow};

use super::CONGESTION;

/// What a value of keys is (`SysctlRow::takes`): each machine has its own.
const KEYS: &str = "1 or 2 keys";

/// Names those that the machine has otherwise than the model, the congestion control first; `is_set`: a run has set it.
pub(crate) fn left_to_machine(is_set: impl Fn(&str) -> bool) -> Option<String> {
    let now = |name: &str| Some(sysctl::words(name).ok()?.join(" "));
    words(is_set, now)
}

fn words(is_set: impl Fn(&str) -> bool, now: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut rows = Sysctl::rows();
    rows.retain(|row| row.takes != KEYS && !is_set(row.name));
    rows.sort_by_key(|row| row.name != CONGESTION);
    let differ = rows.iter().filter_map(|row| {
        let (now, models) = (now(row.name)?, of_model(row));
        let same = now.split_whitespace().eq(models.split_whitespace());
        (!same).then(|| format!("{} {now} (model: {models})", row.name))
    });
    let differ: Vec<String> = differ.collect();
    (!differ.is_empty()).then(|| {
        format!(
            "the experiment leaves these sysctls to the machine: {}",
            differ.join(", ")
        )
    })
}

/// What a host of the model begins with.
fn of_model(row: &SysctlRow) -> &str {
    let of_runs = HOST_SYSCTLS.iter().find(|(name, _)| *name == row.name);
    of_runs.map_or(&row.default, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_values_than_the_models_are_named_the_congestion_control_first() {
        let said = |set: &[&str]| {
            let now = |name: &str| match name {
                CONGESTION => Some("bbr".to_owned()),
                "net.ipv4.tcp_sack" => Some("0".to_owned()),
                "net.ipv4.tcp_wmem" => Some("4096\t16384\t4194304".to_owned()),
                "net.ipv4.tcp_no_metrics_save" => Some("0".to_owned()),
                "net.ipv4.tcp_fastopen_key" => Some("1-2-3-4".to_owned()),
                _ => None,
            };
            words(|name| set.contains(&name), now)
        };
        assert_eq!(
            said(&[]).unwrap(),
            "the experiment leaves these sysctls to the machine: net.ipv4.tcp_congestion_control bbr (model: cubic), \
             net.ipv4.tcp_sack 0 (model: 1), net.ipv4.tcp_no_metrics_save 0 (model: 1)"
        );
        let rest = said(&[CONGESTION, "net.ipv4.tcp_no_metrics_save"]).unwrap();
        assert!(
            rest.ends_with("machine: net.ipv4.tcp_sack 0 (model: 1)"),
            "{rest}"
        );
        let all = [
            CONGESTION,
            "net.ipv4.tcp_no_metrics_save",
            "net.ipv4.tcp_sack",
        ];
        assert_eq!(said(&all), None);
    }
}
