//! `tcplab population connection`: one connection by its number, in every arm, with captures and log.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_lab::campaign::{self, Campaign};
use tcplab_lab::population::sample::sample_point;
use tcplab_lab::population::{arm_point, of_folder, variants};
use tcplab_os::say;
use tcplab_plan::population::{Drawn, LossKind};
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_plan::{Point, Population};
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::table::{Align, Cell, Table};

use super::args::ConnectionArgs;
use crate::args::Color;
use crate::failure::Failure;
use crate::files;
use crate::json;
use crate::run::lab;
use crate::screen;
use crate::terminal;

/// `schema` of the document.
pub const SCHEMA: &str = "tcplab.population-connection/1";

/// Counters of the server that are shown.
pub const COUNTERS: [&str; 8] = [
    "TcpOutSegs",
    "TcpRetransSegs",
    "TcpExtTCPTimeouts",
    "TcpExtTCPLossProbes",
    "TcpExtTCPDSACKRecv",
    "TcpExtTCPFullUndo",
    "TcpExtTCPLossUndo",
    "TcpExtTCPSpuriousRTOs",
];

/// The drawn connection, and its result in each arm.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    drawn: Drawn,
    runs: RunDocument,
}

/// Runs a connection again.
pub fn run(args: &ConnectionArgs, color: Color) -> Result<ExitCode, Failure> {
    let population = population(args)?;
    check_number(&population, args)?;
    let arms = arms(&population, args)?;
    let lab = lab()?;
    let mut runs: Option<RunDocument> = None;
    for on in &args.on {
        let stack = lab.stack(on)?;
        let points = points(&population, args, &arms, on)?;
        let folder = match (&args.out, args.on.len()) {
            (Some(out), 2..) => Some(out.join(stack.name.replace([':', '@', '+', '/'], "-"))),
            (out, _) => out.clone(),
        };
        let document = campaign::run(
            &lab,
            &Campaign {
                experiment: &population.name,
                points: &points,
                stacks: &[stack],
                measures: &measures(&points[0]),
                jobs: 1,
                out: folder.as_deref(),
                ..Campaign::default()
            },
            |_| {},
        )?;
        match &mut runs {
            None => runs = Some(document),
            Some(runs) => runs.points.extend(document.points),
        }
    }
    let runs = runs.unwrap_or_default();
    let drawn = population.draw(args.number);
    if args.json {
        json::print(&Document {
            schema: SCHEMA,
            drawn,
            runs,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    print(
        &population,
        &drawn,
        &runs.points,
        &terminal::theme(color, false),
    )?;
    if let Some(out) = &args.out {
        let each = if args.on.len() > 1 { "*/" } else { "" };
        say(&format!(
            "captures and logs: {}/{each}points/*",
            out.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// That of the file, or of the result folder.
fn population(args: &ConnectionArgs) -> Result<Population, Failure> {
    let place = &args.experiment;
    if !place.is_dir() {
        let text = files::experiment(place)?;
        return super::read(place, &text, args.variant.as_deref(), args.seed);
    }
    let folder = match &args.variant {
        Some(variant) => place.join(variant),
        None => place.clone(),
    };
    if variants::are_in(&folder) {
        return Err(Failure::usage(format!(
            "{} has several variants; choose one with --variant",
            folder.display()
        )));
    }
    let mut population = of_folder(&folder)?;
    population.seed = args.seed.unwrap_or(population.seed);
    Ok(population)
}

/// Refuses a number that no connection of the population has: nobody has ever run it.
fn check_number(population: &Population, args: &ConnectionArgs) -> Result<(), Failure> {
    let (number, count) = (args.number, population.connections);
    if number < count {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "there is no connection {number}: {} has connections 0 to {}; after a run with another --connections, name its result folder",
        args.experiment.display(),
        count.saturating_sub(1)
    )))
}

fn arms(population: &Population, args: &ConnectionArgs) -> Result<Vec<usize>, Failure> {
    let arms = &population.arms;
    match &args.arm {
        None => Ok((0..arms.len()).collect()),
        Some(name) => match arms.iter().position(|arm| arm.name == *name) {
            Some(place) => Ok(vec![place]),
            None => Err(super::no_arm(name, population)),
        },
    }
}

/// The connection in each arm, for a stack.
fn points(
    population: &Population,
    args: &ConnectionArgs,
    arms: &[usize],
    on: &str,
) -> Result<Vec<Point>, Failure> {
    let is_sample = args.on.iter().any(|on| on.starts_with("uml:"));
    let point = |arm: &usize| match is_sample {
        true => sample_point(population, args.number, *arm, on),
        false => arm_point(population, args.number, *arm, on),
    };
    Ok(arms.iter().map(point).collect::<Result<_, _>>()?)
}

fn measures(point: &Point) -> Vec<String> {
    let server = &point.hosts[0].name;
    COUNTERS.map(|name| format!("{server}.{name}")).to_vec()
}

fn print(
    population: &Population,
    drawn: &Drawn,
    points: &[PointResult],
    theme: &Theme,
) -> Result<(), Failure> {
    let mut out = screen::painted(theme);
    writeln!(out, "connection {}", drawn.number)?;
    writeln!(out, "  path      {}", path_words(drawn))?;
    for (what, words) in rare_words(population, drawn) {
        writeln!(out, "  {what:<9} {words}")?;
    }
    writeln!(out, "  responses {:?} bytes", drawn.responses)?;
    writeln!(out, "  think     {}\n", think_words(drawn))?;
    let mut columns = vec![
        ("arm", Align::Left),
        ("stack", Align::Left),
        ("responses, as the client saw them", Align::Left),
    ];
    columns.extend(COUNTERS.map(|name| (short(name), Align::Right)));
    let mut table = Table::new(&columns);
    for point in points {
        let arm = point
            .axes
            .get("arm")
            .and_then(|v| v.as_str())
            .unwrap_or("?");
        let times: Vec<String> = point
            .flows
            .iter()
            .flat_map(|flow| &flow.client.latency_ns)
            .map(|ns| format!("{:.0}", *ns as f64 / 1e6))
            .collect();
        let mut cells: Vec<Cell> = vec![
            arm.into(),
            point.stack.as_str().into(),
            format!("{} ms", times.join(" ")).into(),
        ];
        cells.extend(COUNTERS.map(|name| {
            let value = point
                .measures
                .get(&format!("server.{name}"))
                .copied()
                .flatten();
            Cell::from(value.map_or("-".to_owned(), |v| format!("{v:.0}")))
        }));
        table.row(cells);
    }
    write!(out, "{}", table.render(theme))?;
    Ok(())
}

fn short(name: &'static str) -> &'static str {
    name.strip_prefix("TcpExtTCP")
        .or(name.strip_prefix("Tcp"))
        .unwrap_or(name)
}

/// The path of a connection.
pub fn path_words(drawn: &Drawn) -> String {
    format!(
        "{:.1} ms, {:.2} Mbit/s, queue of {} bytes, jitter {:.1} ms, {}{}",
        drawn.rtt_ns as f64 / 1e6,
        drawn.rate_bps as f64 / 1e6,
        drawn.buffer_bytes,
        drawn.jitter_ns as f64 / 1e6,
        loss(drawn.loss),
        outage(drawn)
    )
}

/// What few paths have: a change, a middle box, an injected segment.
pub fn rare_words(population: &Population, drawn: &Drawn) -> Vec<(&'static str, String)> {
    let ms = |ns: i64| format!("{:.1} ms", ns as f64 / 1e6);
    let change = drawn.change.map(|change| {
        let rate = change
            .rate_bps
            .map(|bps| format!("{:.2} Mbit/s", bps as f64 / 1e6));
        let parts: Vec<String> = change.rtt_ns.map(ms).into_iter().chain(rate).collect();
        format!("{} from {} on", parts.join(", "), ms(change.at_ns))
    });
    let middlebox = drawn
        .middlebox
        .and_then(|kind| population.middleboxes.get(kind));
    let inject = drawn.inject.and_then(|forged| {
        let rule = population.injects.get(forged.kind)?;
        let to = if rule.to_client { "client" } else { "server" };
        let segment = rule.segment.segment();
        Some(format!("{segment} to the {to} at {}", ms(forged.at_ns)))
    });
    let all = [
        ("change", change),
        ("middlebox", middlebox.map(|kind| kind.words())),
        ("injected", inject),
    ];
    all.into_iter()
        .filter_map(|(what, words)| Some((what, words?)))
        .collect()
}

/// The time before each request but the first.
pub fn think_words(drawn: &Drawn) -> String {
    let seconds = |ns: &i64| format!("{:.2} s", *ns as f64 / 1e9);
    let think: Vec<String> = drawn.think_ns.iter().map(seconds).collect();
    think.join(", ")
}

fn loss(kind: LossKind) -> String {
    match kind {
        LossKind::None => "no random loss".to_owned(),
        LossKind::Independent(ppb) => format!("{:.1} % lost", f64::from(ppb) / 1e7),
        LossKind::Bursts(ppb) => format!("{:.1} % lost in bursts", f64::from(ppb) / 1e7),
    }
}

fn outage(drawn: &Drawn) -> String {
    let s = |ns: i64| ns as f64 / 1e9;
    match drawn.outage {
        None => String::new(),
        Some(o) => match o.until_ns {
            Some(until) => format!(", outage from {:.2} s to {:.2} s", s(o.from_ns), s(until)),
            None => format!(", outage from {:.2} s on", s(o.from_ns)),
        },
    }
}
