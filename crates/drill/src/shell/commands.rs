//! The commands that are understood.

use std::ops::RangeInclusive;

use super::{Growth, Step, Steps, defaults};
use crate::target::Setting;

/// Takes one command; what it asks for goes to `out`. False: a shell would find that it failed.
pub fn command(words: &[String], output: Option<&str>, out: &mut Steps) -> Result<bool, String> {
    let Some((name, args)) = words.split_first() else {
        return Ok(true);
    };
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    if name == "echo" {
        return echo(&args, output, out);
    }
    if let Some(path) = output {
        return Err(format!("no file is written from a script (`{path}`)"));
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    match base {
        "sysctl" => return sysctl(&args, out),
        "false" => return Ok(false),
        "true" | ":" => {}
        "nstat" if args.iter().all(|arg| arg.starts_with('-')) => out.0.push(Step::Counters {
            wanted: None,
            keeps: args == ["-s"],
        }),
        "ip" => ip(&args, out)?,
        "tc" => tc(&args, out)?,
        "ethtool" => ethtool(&args, out)?,
        // The target's open(2) gives zeros for any file in /tmp, so these commands do nothing.
        "rm" if is_removal(&args) => out.set(Setting::Nothing),
        "dd" if is_zeros(&args) => out.set(Setting::Nothing),
        _ if args.is_empty() && name.ends_with("common/defaults.sh") => {
            defaults::settings()
                .into_iter()
                .for_each(|setting| out.set(setting));
        }
        _ if args.is_empty() && name == "/tmp/sysctl_restore_${PPID}.sh" => {
            out.set(Setting::RestoreSysctls)
        }
        "set_sysctls.py" => set_sysctls(&args, out)?,
        _ => return Err(format!("`{base}` is not understood")),
    }
    Ok(true)
}

/// `nstat | grep NAME`, `nstat | grep NAME | grep " 3 "`, and the sockets that listen. None: it is another pipe.
pub fn pipe(commands: &[&[String]]) -> Option<Step> {
    let (first, greps) = commands.split_first()?;
    let patterns: Vec<&str> = greps
        .iter()
        .map(|words| grep(words))
        .collect::<Option<_>>()?;
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    match (first.as_slice(), patterns.as_slice()) {
        (["nstat", flags @ ..], [name, by @ ..]) if by.len() <= 1 => {
            let keeps = match flags {
                [] => false,
                ["-s"] => true,
                _ => return None,
            };
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
            let by = match by.first() {
                // Blanks on both sides: the whole number of a line.
                Some(by) => Some(by.strip_prefix(' ')?.strip_suffix(' ')?.parse().ok()?),
                None => None,
            };
            let name = is_name.then(|| (*name).to_string())?;
            Some(Step::Counters {
                wanted: Some(Growth { name, by }),
                keeps,
            })
        }
        (["grep", " 0A ", "/proc/net/tcp", "/proc/net/tcp6"], [port]) => {
            let port = u16::from_str_radix(port.strip_prefix(':')?, 16).ok()?;
            Some(Step::Listens(port))
        }
        _ => None,
    }
}

/// The pattern of `grep [-q] PATTERN`.
fn grep(words: &[String]) -> Option<&str> {
    match words {
        [name, pattern] if name == "grep" => Some(pattern),
        [name, quiet, pattern] if name == "grep" && quiet == "-q" => Some(pattern),
        _ => None,
    }
}

/// `sysctl [-q] [-w] [-e] [-n] NAME=VALUE... NAME...` as procps-ng 4.0 has it: without a name it fails, and so does with
/// `-w` a name without a value.
fn sysctl(args: &[&str], out: &mut Steps) -> Result<bool, String> {
    let is_flag = |arg: &&&str| arg.len() > 1 && arg.starts_with('-');
    let mut flags = String::new();
    for arg in args.iter().filter(is_flag) {
        match arg.chars().skip(1).find(|c| !"qwen".contains(*c)) {
            Some('-') => return Err(format!("`{arg}` is not understood")),
            Some(unknown) => return Err(format!("`-{unknown}` is not understood")),
            None => flags.push_str(&arg[1..]),
        }
    }
    let names: Vec<&&str> = args.iter().filter(|arg| !is_flag(arg)).collect();
    let mut went_well = !names.is_empty();
    let may_be_missing = flags.contains('e');
    for arg in names {
        let Some((name, value)) = arg.split_once('=') else {
            went_well &= !flags.contains('w');
            if went_well && !may_be_missing {
                out.0.push(Step::HasSysctl(read_name(arg)?));
            } else {
                out.set(Setting::Nothing);
            }
            continue;
        };
        let name = sysctl_name(name)?;
        if value.is_empty() {
            // sysctl(8) itself finds it invalid, whatever the sysctl is.
            went_well = false;
        } else if is_in_linux(&name) {
            out.set(match may_be_missing {
                true => Setting::SysctlIfThere(name, value.to_string()),
                false => Setting::Sysctl(name, value.to_string()),
            });
        } else if !may_be_missing {
            went_well = false;
            out.set(Setting::Sysctl(name, value.to_string()));
        }
    }
    Ok(went_well)
}

/// What `sysctl NAME` reads: any word, which need not be the name of a sysctl.
fn read_name(word: &str) -> Result<String, String> {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !starts && word.chars().all(is_plain) {
        true => Ok(word.to_string()),
        false => sysctl_name(word),
    }
}

/// A name with points, whichever separator it was written with.
fn sysctl_name(name: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if !starts || !name.chars().all(is_fine) || name.contains("..") {
        return Err(format!("`{name}` is not the name of a sysctl"));
    }
    Ok(match (name.find('/'), name.find('.')) {
        // Written as a path: points are part of a device's name.
        (Some(slash), dot) if dot.is_none_or(|dot| slash < dot) => name.replace('/', "."),
        _ => name.to_string(),
    })
}

/// Sysctls of TCP that some script sets although no Linux has them: the command fails in a shell as well.
fn is_in_linux(name: &str) -> bool {
    !matches!(name, "net.ipv4.tcp_fastopen_cookies")
}

/// `set_sysctls.py /proc/sys/NAME=VALUE...`
fn set_sysctls(args: &[&str], out: &mut Steps) -> Result<(), String> {
    for arg in args {
        let (path, value) = arg
            .split_once('=')
            .ok_or_else(|| format!("expected /proc/sys/NAME=VALUE, not `{arg}`"))?;
        out.set(write_proc(path, value)?);
    }
    Ok(())
}

/// What writing `value` to this file of /proc or /sys sets.
fn write_proc(path: &str, value: &str) -> Result<Setting, String> {
    if let Some(name) = path.strip_prefix("/proc/sys/") {
        return Ok(Setting::Sysctl(sysctl_name(name)?, value.to_string()));
    }
    // A parameter of a module keeps its path.
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["", "sys", "module", module, "parameters", parameter]
            if !module.starts_with('.') && !parameter.starts_with('.') =>
        {
            Ok(Setting::Sysctl(path.to_string(), value.to_string()))
        }
        _ => Err(format!("no file is written from a script (`{path}`)")),
    }
}

fn echo(args: &[&str], output: Option<&str>, out: &mut Steps) -> Result<bool, String> {
    let args = match args {
        ["-n", rest @ ..] => rest,
        _ => args,
    };
    match output {
        Some(path) => out.set(write_proc(path, &args.join(" "))?),
        None => out.set(Setting::Nothing),
    }
    Ok(true)
}

/// The smallest MTU of IPv4, and the largest of a TUN device.
const MTUS: RangeInclusive<u32> = 68..=65_535;

/// `ip tcp_metrics flush`, `ip [-4|-6] route change|replace DST ...`, `ip link set dev tun0 mtu N`
fn ip(args: &[&str], out: &mut Steps) -> Result<(), String> {
    let args = match args {
        ["-4" | "-6", rest @ ..] => rest,
        _ => args,
    };
    match args {
        ["tcp_metrics" | "tcpmetrics", "flush"]
        | ["tcp_metrics" | "tcpmetrics", "flush", "all"] => {
            out.set(Setting::FlushMetrics);
        }
        ["route" | "ro" | "r", "change" | "replace", destination, words @ ..] => {
            out.set(Setting::Route((*destination).to_owned(), owned(words)));
        }
        ["link", "set", "dev", "tun0", "mtu", mtu] | ["link", "set", "tun0", "mtu", mtu] => {
            let bytes = mtu.parse().ok().filter(|bytes| MTUS.contains(bytes));
            let bytes = bytes.ok_or_else(|| format!("tun0 has no MTU of `{mtu}` (68 to 65535 bytes)"))?;
            out.set(Setting::Mtu(bytes));
        }
        ["route" | "ro" | "r"] | ["route" | "ro" | "r", "show" | "list" | "get", ..] => {
            out.set(Setting::Nothing)
        }
        _ => return Err("of `ip`, `tcp_metrics flush`, `route change` and `link set dev tun0 mtu N` are understood".into()),
    }
    Ok(())
}

/// `tc qdisc add|replace|change|delete dev tun0 root ...`
fn tc(args: &[&str], out: &mut Steps) -> Result<(), String> {
    match args {
        [
            "qdisc",
            "add" | "replace" | "change",
            "dev",
            "tun0",
            "root",
            words @ ..,
        ] if !words.is_empty() => {
            out.set(Setting::Qdisc(owned(words)));
        }
        ["qdisc", "del" | "delete", "dev", "tun0", "root", ..] => {
            out.set(Setting::Qdisc(Vec::new()))
        }
        ["-s", "qdisc", "show" | "list", ..] | ["qdisc", "show" | "list", ..] => {
            out.set(Setting::Nothing)
        }
        _ => {
            return Err(
                "of `tc`, `qdisc add|replace|delete dev tun0 root ...` is understood".into(),
            );
        }
    }
    Ok(())
}

/// `ethtool -K tun0 NAME on|off ...`
fn ethtool(args: &[&str], out: &mut Steps) -> Result<(), String> {
    let ["-K" | "--offload" | "--features", "tun0", pairs @ ..] = args else {
        return Err("of `ethtool`, `-K tun0 NAME on|off` is understood".into());
    };
    if pairs.is_empty() {
        return Err("no offload is named".into());
    }
    for pair in pairs.chunks(2) {
        let (name, is_on) = match pair {
            [name, "on"] => (name, true),
            [name, "off"] => (name, false),
            _ => return Err(format!("`{}` needs `on` or `off`", pair.join(" "))),
        };
        let short = match *name {
            "tcp-segmentation-offload" => "tso",
            "generic-segmentation-offload" => "gso",
            "generic-receive-offload" => "gro",
            "large-receive-offload" => "lro",
            "scatter-gather" => "sg",
            "tx-checksumming" => "tx",
            "rx-checksumming" => "rx",
            other => other,
        };
        out.set(Setting::Offload(short.to_string(), is_on));
    }
    Ok(())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

fn is_temporary(path: &str) -> bool {
    path.starts_with("/tmp/") && !path.contains("..")
}

fn is_removal(args: &[&str]) -> bool {
    let (flags, paths): (Vec<&str>, Vec<&str>) = args.iter().partition(|arg| arg.starts_with('-'));
    flags.iter().all(|flag| *flag == "-f")
        && !paths.is_empty()
        && paths.iter().all(|path| is_temporary(path))
}

fn is_zeros(args: &[&str]) -> bool {
    let has = |want: &dyn Fn(&str) -> bool| args.iter().any(|arg| want(arg));
    has(&|arg| arg == "if=/dev/zero")
        && has(&|arg| arg.strip_prefix("of=").is_some_and(is_temporary))
}
