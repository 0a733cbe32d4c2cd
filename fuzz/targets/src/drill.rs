//! packetdrill scripts: the language, options, shell lines and code.

use tcplab_drill::script::{Action, Script};
use tcplab_drill::{Defines, IpMode, Settings, parse, python, shell, symbols};

/// A script: an error with a place in the text, or events whose parts are understood or refused in words.
pub fn drill_parser(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut defines = Defines::new();
    defines.set("N", "0x10");
    defines.set("S", "\"text\"");
    match parse(&text, &defines) {
        Ok(script) => {
            assert!(!script.events.is_empty());
            parts(&script);
            // Reading depends on nothing but the text.
            assert!(
                parse(&text, &defines)
                    .is_ok_and(|again| format!("{again:?}") == format!("{script:?}"))
            );
        }
        Err(error) => {
            let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
            assert!(
                error.place.line >= 1 && error.place.line <= lines.saturating_add(1),
                "{error}"
            );
            assert!(
                error.place.column >= 1 && error.to_string().len() < 1_000,
                "{error}"
            );
        }
    }
    // What stands in scripts, on its own: mutants of whole scripts are seldom read as far.
    line(&text);
    code(&text);
}

fn parts(script: &Script) {
    for mode in [IpMode::Ipv4, IpMode::Ipv6, IpMode::Mapped] {
        if let Err(error) = Settings::of(script, mode, &[]) {
            assert!(!error.what.is_empty());
        }
    }
    let shells = script.init.iter().chain(&script.cleanup);
    shells.for_each(|shell| line(&shell.value));
    for event in &script.events {
        match &event.action {
            Action::Shell(shell) => line(&shell.value),
            Action::Code(block) => code(&block.value),
            Action::Call(call) => drop(symbols::number_or_hint(&call.name.value)),
            Action::Packet(_) => {}
        }
    }
}

fn line(text: &str) {
    match shell::interpret(text, Some("sysctl -q net.ipv4.tcp_sack=1")) {
        Ok(steps) => assert!(steps.len() <= text.len() * 30),
        Err(why) => {
            let starts = why.starts_with("needs shell") || why.starts_with("names ");
            assert!(starts, "{why}");
        }
    }
}

fn code(text: &str) {
    let mut vars = python::Vars::new();
    let names = [("tcpi_rtt", 25_000), ("tcpi_snd_cwnd", 10)];
    if let Err(error) = python::run(text, &names, &mut vars) {
        assert!(!error.to_string().is_empty());
    }
    // A second run goes on with the variables of the first.
    let _ = python::run(text, &[], &mut vars);
}
