//! Whether hosts allow TCP Fast Open: bits of `net.ipv4.tcp_fastopen`.

use crate::app::App;
use crate::point::Host;

const SYSCTL: &str = "net.ipv4.tcp_fastopen";
/// The sysctl's value where a host does not set it.
const DEFAULT: u32 = CLIENT;
const CLIENT: u32 = 1;
const SERVER: u32 = 2;

/// Why an application that asks for Fast Open would not get it, with the line to write.
pub(crate) fn obstacle(app: &App, hosts: &[Host]) -> Option<String> {
    if !app.fastopen {
        return None;
    }
    let ends = [
        (app.client, CLIENT, "client"),
        (app.server, SERVER, "server"),
    ];
    ends.into_iter().find_map(|(index, bit, end)| {
        let host = hosts.get(index)?;
        let bits = host.sysctl.get(SYSCTL).map_or(Some(DEFAULT), |text| number(text))?;
        let missing = bits & bit == 0;
        missing.then(|| {
            let (name, all) = (&host.name, bits | CLIENT | SERVER);
            format!(
                "`fastopen` needs bit {bit} in {SYSCTL} of the {end}, host `{name}`, which has {bits}: write \
                 sysctl = {{ \"{SYSCTL}\" = {all} }} there"
            )
        })
    })
}

/// A number as the kernel reads it. The check of sysctls refuses what is no number.
fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
