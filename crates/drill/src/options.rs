//! What the options at a script's head and of the command line ask for.
//!
//! The order is packetdrill's and its runner's: defaults, the script, then the command line that the runner gives for
//! each mode, then what the user adds. So a script's `--local_ip` has no say when the runner names one.

use std::net::{IpAddr, Ipv4Addr};

use crate::error::ScriptError;
use crate::parse::Defines;
use crate::script::{Place, Script};
use crate::target::{IpMode, Network};

/// What packetdrill's runner says for IPv4 sockets, and for IPv6 sockets with mapped addresses.
const V4_LINE: &[(&str, &str)] = &[
    ("local_ip", "192.168.0.1"),
    ("gateway_ip", "192.168.0.1"),
    ("netmask_ip", "255.255.0.0"),
    ("remote_ip", "192.0.2.1"),
];

/// What packetdrill's runner says for IPv6.
const V6_LINE: &[(&str, &str)] = &[
    ("mtu", "1520"),
    ("local_ip", "fd3d:0a0b:17d6::1"),
    ("gateway_ip", "fd3d:0a0b:17d6:8888::1"),
    ("remote_ip", "fd3d:fa7b:d17d::1"),
];

/// Which getsockopt(2) the names in code come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CodeSource {
    /// Whichever there is: TCP_INFO.
    #[default]
    Auto,
    /// TCP_INFO.
    TcpInfo,
    /// TCP_CC_INFO.
    CcInfo,
    /// SO_MEMINFO.
    MemInfo,
}

/// The settings of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Addresses and MTU.
    pub network: Network,
    /// Bits of the network of the remote address.
    pub remote_prefix: u8,
    /// The port that bind(2) is given in place of what the script says.
    pub bind_port: u16,
    /// The port that connect(2) is given in place of what the script says.
    pub connect_port: u16,
    /// How late or early something may be, in microseconds ...
    pub tolerance_us: i64,
    /// ... and in millionths of the time since the event before; the larger of the two holds.
    pub tolerance_ppm: u32,
    /// `ecr` of packets that arrive is counted from the host's first time stamp.
    pub ts_ecr_scaled: bool,
    /// Microseconds of one tick of the time stamps that leave; 0: they are not looked at.
    pub ts_tick_us: u32,
    /// Segments must leave cut as the script says.
    pub strict_segments: bool,
    /// Packets that do not fit only warn.
    pub non_fatal_packet: bool,
    /// Calls that do not fit only warn.
    pub non_fatal_syscall: bool,
    /// Any address of the local network is the host's.
    pub is_anyip: bool,
    /// Shell scripts to run before, by path.
    pub init_scripts: Vec<String>,
    /// The text of the `defaults.sh` that the script names, where its file was found. No option.
    pub defaults: Option<String>,
    /// What code looks at.
    pub code_source: CodeSource,
    /// Wrong checksums of TCP, UDP and ICMP count. Off where a device would have written them (TUN). No option.
    pub check_sums: bool,
    /// What is open at the end is closed and reset, for a host that lives on. No option.
    pub reset_at_end: bool,
}

impl Settings {
    /// The defaults without any option.
    pub fn new(mode: IpMode) -> Self {
        let (local, remote, gateway, prefix, remote_prefix) = match mode {
            IpMode::Ipv4 | IpMode::Mapped => (
                IpAddr::from([192, 168, 0, 1]),
                IpAddr::from([192, 0, 2, 1]),
                IpAddr::from([192, 168, 0, 1]),
                16,
                24,
            ),
            IpMode::Ipv6 => (
                IpAddr::from([0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1]),
                IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
                IpAddr::from([0xfd3d, 0xfa7b, 0xd17d, 0x8888, 0, 0, 0, 0]),
                48,
                32,
            ),
        };
        Self {
            network: Network {
                mode,
                local,
                remote,
                gateway,
                prefix,
                mtu: 1500,
                gso_size: None,
            },
            remote_prefix,
            bind_port: 8080,
            connect_port: 8080,
            tolerance_us: 4000,
            tolerance_ppm: 125_000,
            ts_ecr_scaled: false,
            ts_tick_us: 0,
            strict_segments: false,
            non_fatal_packet: false,
            non_fatal_syscall: false,
            is_anyip: false,
            init_scripts: Vec::new(),
            defaults: None,
            code_source: CodeSource::Auto,
            check_sums: false,
            reset_at_end: false,
        }
    }

    /// The settings of `script` in this mode, as packetdrill's runner would have them, with `extra` options of the
    /// user's command line.
    ///
    /// # Errors
    /// An option is unknown, has an invalid value, or needs a feature that we lack. Place 0:0: the option is from the
    /// command line.
    pub fn of(
        script: &Script,
        mode: IpMode,
        extra: &[(String, Option<String>)],
    ) -> Result<Self, ScriptError> {
        let mut settings = Self::new(mode);
        for option in &script.options {
            let (name, value) = &option.value;
            // Addresses of the other family would be replaced below in any case.
            let is_replaced = runner_line(mode).iter().any(|(known, _)| known == name);
            if !is_replaced && name != "ip_version" && refused(name).is_none() {
                let applied = settings.apply(name, value.as_deref());
                applied.map_err(|what| ScriptError::new(option.place, what))?;
            }
        }
        let on_line = |what| ScriptError::new(Place::default(), what);
        for (name, value) in runner_line(mode) {
            settings.apply(name, Some(value)).map_err(on_line)?;
        }
        for (name, value) in extra {
            settings.apply(name, value.as_deref()).map_err(on_line)?;
        }
        Ok(settings)
    }

    /// Takes one option, without its dashes.
    ///
    /// # Errors
    /// The message names the option.
    pub fn apply(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
            if value.is_some() {
                return Err(format!("--{name} takes no value"));
            }
            if let Some(flag) = flag {
                *flag(self) = true;
            }
            return Ok(());
        }
        if let Some(reason) = refused(name) {
            return Err(format!("--{name} {reason}"));
        }
        if !WITH_VALUE.contains(&name) {
            let known = WITH_VALUE
                .iter()
                .chain(FLAGS.iter().map(|(known, _)| known))
                .copied();
            return Err(format!(
                "--{name} is not an option of packetdrill{}",
                crate::nearest::hint(name, known)
            ));
        }
        let value = value.ok_or_else(|| format!("--{name} needs a value: --{name}=VALUE"))?;
        self.apply_value(name, value)
            .map_err(|expected| format!("--{name}={value}: expected {expected}"))
    }

    /// An option with a value; the error says what was expected.
    fn apply_value(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "ip_version" => {
                let mode = mode(value)?;
                if mode != self.network.mode {
                    let before = std::mem::replace(self, Self::new(mode));
                    self.keep_all_but_addresses(before);
                }
            }
            "bind_port" => self.bind_port = port(value)?,
            "connect_port" => self.connect_port = port(value)?,
            "remote_ip" => (self.network.remote, self.remote_prefix) = self.prefixed(value)?,
            "local_ip" => self.network.local = self.address(value)?,
            "gateway_ip" => self.network.gateway = self.address(value)?,
            // IPv6 always uses 48 bits.
            "netmask_ip" if self.network.mode == IpMode::Ipv6 => drop(netmask(value)?),
            "netmask_ip" => self.network.prefix = netmask(value)?,
            "speed" => drop(number(value, 0, u32::MAX)?),
            "mss" => self.network.gso_size = u16::try_from(number(value, 1, 65535)?).ok(),
            "mtu" => self.network.mtu = number(value, 0, 65535)?,
            "init_scripts" => {
                self.init_scripts = value.split(',').map(|s| s.trim().to_string()).collect()
            }
            "tolerance_usecs" => self.tolerance_us = i64::from(number(value, 1, u32::MAX)?),
            "tolerance_percent" => self.tolerance_ppm = percent(value)?,
            "tcp_ts_tick_usecs" => self.ts_tick_us = number(value, 0, 1_000_000)?,
            "non_fatal" => {
                for kind in value.split([',', ' ']).filter(|kind| !kind.is_empty()) {
                    match kind {
                        "packet" => self.non_fatal_packet = true,
                        "syscall" => self.non_fatal_syscall = true,
                        _ => return Err("`packet`, `syscall` or both".into()),
                    }
                }
            }
            "code_sockopt" => {
                self.code_source = match value {
                    "" => CodeSource::Auto,
                    "TCP_INFO" => CodeSource::TcpInfo,
                    "TCP_CC_INFO" => CodeSource::CcInfo,
                    "SO_MEMINFO" => CodeSource::MemInfo,
                    _ => return Err("`TCP_INFO`, `TCP_CC_INFO` or `SO_MEMINFO`".into()),
                }
            }
            "code_format" if value != "python" => return Err("`python`".into()),
            "code_command" if !value.starts_with("python") => {
                return Err("`python3`: code is evaluated here, no program is run".into());
            }
            // Symbols are the parser's.
            _ => {}
        }
        Ok(())
    }

    fn keep_all_but_addresses(&mut self, before: Self) {
        let after = std::mem::replace(self, before);
        self.network = Network {
            mtu: self.network.mtu,
            gso_size: self.network.gso_size,
            ..after.network
        };
        self.remote_prefix = after.remote_prefix;
    }

    fn address(&self, text: &str) -> Result<IpAddr, String> {
        match text.parse() {
            Ok(address @ IpAddr::V6(_)) if self.network.mode == IpMode::Ipv6 => Ok(address),
            Ok(address @ IpAddr::V4(_)) if self.network.mode != IpMode::Ipv6 => Ok(address),
            _ => Err(match self.network.mode {
                IpMode::Ipv6 => "an IPv6 address".into(),
                IpMode::Ipv4 | IpMode::Mapped => "an IPv4 address".into(),
            }),
        }
    }

    /// An address, perhaps with the bits of its network.
    fn prefixed(&self, text: &str) -> Result<(IpAddr, u8), String> {
        let Some((address, bits)) = text.split_once('/') else {
            return Ok((self.address(text)?, self.remote_prefix));
        };
        let address = self.address(address)?;
        let most = if address.is_ipv6() { 128 } else { 32 };
        let bits = number(bits, 0, most)?;
        Ok((address, u8::try_from(bits).unwrap_or(0)))
    }
}

/// What packetdrill's runner puts on the command line in a mode, without the mode itself and its symbols.
pub fn runner_line(mode: IpMode) -> &'static [(&'static str, &'static str)] {
    match mode {
        IpMode::Ipv4 | IpMode::Mapped => V4_LINE,
        IpMode::Ipv6 => V6_LINE,
    }
}

/// The symbols that packetdrill's runner defines in a mode. The cookies are what Linux makes of the runner's addresses
/// with the suite's key, and with the key of zeros.
pub fn runner_defines(mode: IpMode) -> Defines {
    let (cookie, zero_cookie) = match mode {
        IpMode::Ipv4 | IpMode::Mapped => ("3021b9d889017eeb", "b7c12350a90dc8f5"),
        IpMode::Ipv6 => ("c1d1e9742a47a9bc", "82af1a8f9a205c34"),
    };
    let (level, recverr) = match mode {
        IpMode::Ipv4 => ("SOL_IP", "IP_RECVERR"),
        IpMode::Ipv6 | IpMode::Mapped => ("SOL_IPV6", "IPV6_RECVERR"),
    };
    let mut defines = Defines::new();
    defines.set("TFO_COOKIE", cookie);
    defines.set("TFO_COOKIE_ZERO", zero_cookie);
    if mode != IpMode::Ipv6 {
        defines.set("CODE", "host_unreachable");
    }
    defines.set("CMSG_LEVEL_IP", level);
    defines.set("CMSG_TYPE_RECVERR", recverr);
    defines
}

/// The modes in which packetdrill's runner runs a file of this name: `...v4.pkt` not in IPv6, `...v6.pkt` only there.
pub fn runner_modes(file_name: &str) -> &'static [IpMode] {
    if file_name.ends_with("v6.pkt") {
        &[IpMode::Ipv6]
    } else if file_name.ends_with("v4.pkt") {
        &[IpMode::Ipv4, IpMode::Mapped]
    } else {
        &[IpMode::Ipv4, IpMode::Mapped, IpMode::Ipv6]
    }
}

/// The mode that `--ip_version` names.
fn mode(value: &str) -> Result<IpMode, String> {
    IpMode::named(value).ok_or_else(|| "`ipv4`, `ipv4-mapped-ipv6` or `ipv6`".into())
}

/// Options without a value, and what they set; none: nothing here depends on it.
type Flag = fn(&mut Settings) -> &mut bool;
const FLAGS: &[(&str, Option<Flag>)] = &[
    ("tcp_ts_ecr_scaled", Some(|s| &mut s.ts_ecr_scaled)),
    ("strict_segments", Some(|s| &mut s.strict_segments)),
    ("dry_run", None),
    ("is_anyip", Some(|s| &mut s.is_anyip)),
    ("send_omit_free", None),
    ("debug", None),
    ("verbose", None),
];

const WITH_VALUE: &[&str] = &[
    "ip_version",
    "bind_port",
    "code_command",
    "code_format",
    "code_sockopt",
    "connect_port",
    "remote_ip",
    "local_ip",
    "gateway_ip",
    "netmask_ip",
    "speed",
    "mss",
    "mtu",
    "init_scripts",
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "non_fatal",
    "define",
];

/// Why we do not have this option of packetdrill's, Google's or FreeBSD's: a script that has it is skipped.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    match name {
        "wire_client" | "wire_server" | "wire_server_ip" | "wire_server_at"
        | "wire_server_port" | "wire_client_dev" | "wire_server_dev" => {
            Some("asks for two machines and a real network, but scripts run on one host here")
        }
        "so_filename" | "so_flags" => {
            Some("asks for a TCP in a shared object; choose a stack with --on")
        }
        "udp_encapsulation" => Some("asks for TCP inside UDP, which no target has"),
        "tcp_md5_secret" => {
            Some("asks for digests that packetdrill makes, which are not supported")
        }
        "psp_udp_port" => Some("asks for PSP, which packetdrill has with two machines only"),
        _ => None,
    }
}

fn port(value: &str) -> Result<u16, String> {
    match value.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err("a port from 1 to 65535".into()),
    }
}

fn number(value: &str, least: u32, most: u32) -> Result<u32, String> {
    match value.parse() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("a number from {least} to {most}")),
    }
}

/// `12.5` as millionths.
fn percent(value: &str) -> Result<u32, String> {
    let expected = || "a number from 0 to 100 with at most 4 decimals".to_string();
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let is_number = (value.bytes().filter(|b| *b != b'.')).all(|b| b.is_ascii_digit());
    if !is_number || value.is_empty() || fraction.len() > 4 {
        return Err(expected());
    }
    let digits = format!("{whole}{fraction:0<4}");
    match digits.parse() {
        Ok(ppm) if ppm <= 1_000_000 => Ok(ppm),
        _ => Err(expected()),
    }
}

fn netmask(value: &str) -> Result<u8, String> {
    let expected = || "a netmask such as 255.255.0.0".to_string();
    let bits = u32::from(value.parse::<Ipv4Addr>().map_err(|_| expected())?);
    match bits.leading_ones() == bits.count_ones() {
        true => Ok(u8::try_from(bits.count_ones()).unwrap_or(0)),
        false => Err(expected()),
    }
}

#[cfg(test)]
mod tests;
