//! The experiment of a finding as the text of a file for `tcplab run`: what is run is what a user gets.

use std::fmt::Write;

use tcplab_plan::app::Message;

use super::conversation::{Conversation, End};
use super::figure::Figure;
use super::table::{Does, Experiment};
use super::{AS_IS, HOSTS, Seen};

/// Writes it.
pub(super) fn write(
    seen: &Seen<'_>,
    talk: &Conversation,
    sender: End,
    figure: Figure,
    experiment: &Experiment,
) -> String {
    let mut out = String::new();
    head(&mut out, seen, talk, sender, figure, experiment);
    hosts(&mut out, talk);
    let _ = writeln!(
        out,
        "\n[[link]]\ndelay = \"{}ns\"\nmtu = {}",
        talk.rtt_ns / 2,
        u32::from(talk.mss) + 40
    );
    app(&mut out, talk);
    variants(&mut out, talk, sender, experiment);
    out
}

fn head(
    out: &mut String,
    seen: &Seen<'_>,
    talk: &Conversation,
    sender: End,
    figure: Figure,
    experiment: &Experiment,
) {
    let id = seen.finding.id.name();
    let number = seen.finding.stream;
    let (client, server) = (&seen.stream.client, &seen.stream.server);
    let _ = writeln!(
        out,
        "# The conversation of stream {number} ({client}, {server}), as tcplab analyze --prove read it.\n\
         # On real kernels: tcplab run THIS-FILE --on {}",
        experiment.kernels
    );
    if let Some(cut) = talk.cut {
        let _ = writeln!(
            out,
            "# It ends after packet {} of the capture: {cut}.",
            talk.last_frame
        );
    }
    let receiver = HOSTS[1 - sender];
    let mut measures = match (figure, sender) {
        (Figure::Requests, 0) | (Figure::Transfers, 1) => vec![
            "messages.latency_us.p50".to_owned(),
            "messages.latency_us.max".to_owned(),
        ],
        _ => vec!["messages.duration_us".to_owned()],
    };
    match figure {
        Figure::Transfers => measures.push(format!("{}.TcpRetransSegs", HOSTS[sender])),
        _ => {
            for name in ["total", "delayed", "immediate_us.p50", "delayed_us.p50"] {
                measures.push(format!("{receiver}.acks.{name}"));
            }
        }
    }
    let mut stacks = vec![experiment.stack];
    stacks.extend(experiment.cures.iter().filter_map(|cure| match cure.does {
        Does::Stack(stack) => Some(stack),
        _ => None,
    }));
    let _ = writeln!(
        out,
        "schema = \"tcplab.experiment/1\"\nname = {}\ntitle = {}\nmeasures = {}\n\n[run]\nstacks = {}",
        quoted(&format!("{id}-{number}")),
        quoted(&seen.finding.title),
        list(&measures),
        list(&stacks),
    );
}

fn hosts(out: &mut String, talk: &Conversation) {
    let off = [
        ("tcp_timestamps", talk.timestamps),
        ("tcp_sack", talk.sack),
        ("tcp_window_scaling", talk.scaling),
    ];
    let off: Vec<String> = off
        .iter()
        .filter(|(_, on)| !on)
        .map(|(name, _)| format!("\"net.ipv4.{name}\" = 0"))
        .collect();
    for (host, shown) in HOSTS.iter().zip(talk.sides) {
        // The model's own, so that a kernel whose default is another one repeats the same.
        let _ = writeln!(
            out,
            "\n[[host]]\nname = \"{host}\"\nsocket = {{ congestion = \"cubic\" }}"
        );
        let mut sysctl = off.clone();
        if let Some(window) = shown.window {
            // tcp_adv_win_scale 1: half of the buffer is window.
            let buffer = window.saturating_mul(2);
            sysctl.push(format!(
                "\"net.ipv4.tcp_rmem\" = \"4096 {buffer} {buffer}\""
            ));
        }
        if !sysctl.is_empty() {
            let _ = writeln!(out, "sysctl = {{ {} }}", sysctl.join(", "));
        }
        if let Some(window) = shown.initcwnd {
            let _ = writeln!(out, "route = \"initcwnd {window}\"");
        }
    }
}

fn app(out: &mut String, talk: &Conversation) {
    let _ = writeln!(out, "\n[[app]]\nkind = \"messages\"");
    for (host, shown) in HOSTS.iter().zip(talk.sides) {
        if shown.nodelay {
            let _ = writeln!(out, "{host}_socket = {{ nodelay = true }}");
        }
    }
    let _ = writeln!(out, "messages = {}", messages(&talk.messages));
}

fn variants(out: &mut String, talk: &Conversation, sender: End, experiment: &Experiment) {
    let _ = writeln!(out, "\n[[variant]]\nname = \"{AS_IS}\"");
    for cure in experiment.cures {
        let of = |path: &str| quoted(&ends(path, HOSTS, sender));
        let set: Vec<String> = match &cure.does {
            Does::Stack(_) => continue,
            Does::Set(values) => {
                let values = values.iter();
                values
                    .map(|(path, value)| format!("{} = {value}", of(path)))
                    .collect()
            }
            Does::Messages(change) => {
                vec![format!(
                    "{} = {}",
                    of("app.messages.messages"),
                    messages(&change(talk))
                )]
            }
        };
        let _ = writeln!(
            out,
            "\n[[variant]]\nname = \"{}\"\nset = {{ {} }}",
            cure.variant,
            set.join(", "),
        );
    }
}

/// Puts names in for `{sender}` and `{receiver}`.
pub(super) fn ends(text: &str, names: [&str; 2], sender: End) -> String {
    text.replace("{sender}", names[sender])
        .replace("{receiver}", names[1 - sender])
}

/// A list of messages in TOML, a line each.
fn messages(all: &[Message]) -> String {
    let one = |message: &Message| {
        let end = HOSTS[usize::from(!message.from_client)];
        let after = match message.after_ns {
            0 => String::new(),
            ns => format!(" after {}us", ns / 1000),
        };
        format!("    \"{end} {}{after}\",\n", message.bytes)
    };
    let lines: String = all.iter().map(one).collect();
    format!("[\n{lines}]")
}

fn list<T: AsRef<str>>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", all.join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
