//! The experiment file: TOML in, the points of its matrix out.
//!
//! The form is documented in `docs/experiment.md`. The text becomes a tree whose values know their places. A variant
//! puts values into that tree, and axes are marked in it. Each point is decoded from the tree with one choice at each
//! axis. So every error, even one of a single point, can show its place in the file.

mod aliases;
mod app;
mod axes;
mod drawn;
pub(crate) mod error;
mod events;
mod faults;
pub(crate) mod fields;
mod groups;
pub(crate) mod host;
mod idle;
pub(crate) mod keys;
mod later;
pub(crate) mod link;
mod messages;
pub(crate) mod middlebox;
mod one_way;
mod planned;
pub(crate) mod rrul;
pub(crate) mod schema;
mod setting;
mod tc;
pub(crate) mod tree;
pub(crate) mod variant;
mod view;
pub(crate) mod way_rules;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tcplab_base::quantity::bytes_a_second;

use crate::app::{App, Message};
use crate::measure::Measure;
use crate::point::{Ip, Point};
use crate::rules::{MAX_PAGES, MAX_POINTS, MAX_TIME_NS, MOST_SAMPLES, SECOND_NS};
use crate::view::View;
use axes::Axis;
use drawn::Draws;
use error::Fault;
pub use error::{ParseError, nearest};
use fields::Fields;
use keys::{FILE, Key, RUN, file, run};
pub use messages::Repeated;
use setting::Settings;
use tree::{Choice, Entry, Node, Table, Value};
use variant::Variant;

/// `schema` of the file.
pub const SCHEMA: &str = "tcplab.experiment/1";

/// Bytes of a file at most.
pub const MAX_FILE: usize = 1 << 20;
/// Bytes of text that all points together may be decoded from: bounds memory and time.
const MAX_WORK: usize = 512 << 20;
/// Tables `[[host]]`, `[[link]]`, `[[app]]`; groups make more of them ([`crate::rules::MAX_ALL_HOSTS`]).
const MAX_HOSTS: usize = 64;
const MAX_LINKS: usize = 256;
const MAX_APPS: usize = 256;
const MAX_VARIANTS: usize = 1_000;

/// An experiment: what its file says, checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// The question it answers, and how its result is shown.
    pub view: View,
    /// What runs it when the command line does not say, as written.
    pub stacks: Vec<String>,
    /// Names of the measures to show, in this order; empty: those of the applications.
    pub measures: Vec<String>,
    /// Runs of each point.
    pub repeat: u32,
    file: String,
    text: String,
    tree: Table,
    variants: Vec<Variant>,
    settings: Settings,
    seed: Option<u64>,
}

/// The tree of one variant and its axes.
struct Matrix<'a> {
    variant: Option<&'a Variant>,
    tree: Table,
    axes: Vec<Axis>,
}

impl Experiment {
    /// Points at most.
    pub const MAX_POINTS: usize = MAX_POINTS;

    /// Reads a file's text. `file` is its name, for messages and for a missing `name`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place: each axis value of each variant is checked,
    /// but not each combination.
    pub fn parse(file: &str, text: &str) -> Result<Self, ParseError> {
        Self::parse_with(file, text, &[], None)
    }

    /// Reads a file's text with changes: `set` has words `PATH=VALUE` with the paths of variants, and they replace what
    /// the file and its variants say; `repeat` is in the place of the file's.
    ///
    /// # Errors
    /// As [`Experiment::parse`]; what is wrong in a word of `set` stands in the file `--set`.
    pub fn parse_with(
        file: &str,
        text: &str,
        set: &[String],
        repeat: Option<u32>,
    ) -> Result<Self, ParseError> {
        let settings = Settings::read(text.len(), set)?;
        let error = |fault| settings.error(file, text, fault);
        Self::read(file, text, &settings, repeat).map_err(error)
    }

    fn read(
        file: &str,
        text: &str,
        settings: &Settings,
        again: Option<u32>,
    ) -> Result<Self, Fault> {
        if text.len() > MAX_FILE {
            return Err(Fault::new(
                &(0..0),
                "",
                format!("the file has more than {MAX_FILE} bytes"),
            ));
        }
        let mut tree = tree::read(text)?;
        fill(&mut tree);
        let choice = Choice::new();
        let fields = root(&tree, &choice);
        fields.check(&[FILE])?;
        fields.word(&file::SCHEMA, &[()])?;
        let (stacks, repeat) = match &fields.table("run")? {
            Some(table) => (stacks(table)?, table.get(&run::REPEAT)?),
            None => (Vec::new(), 1),
        };
        let experiment = Self {
            name: fields.name(&file::NAME)?.unwrap_or_else(|| stem(file)),
            view: view::view(&fields, fields.find(&file::TITLE)?)?,
            stacks,
            measures: strings(&fields, &file::MEASURES, 1_000)?,
            repeat: again.unwrap_or(repeat),
            file: file.to_owned(),
            text: text.to_owned(),
            variants: variant::variants(
                &fields.tables("variant", MAX_VARIANTS)?,
                &variant::EXPERIMENT,
            )?,
            settings: settings.clone(),
            seed: None,
            tree,
        };
        experiment.check()?;
        Ok(experiment)
    }

    /// The variants by name, each with what it sets, in words: `link.a-b.rate = "1mbit"`.
    pub fn variants(&self) -> Vec<(String, String)> {
        let of = |variant: &Variant| {
            let sets = variant.sets.iter();
            let sets = sets.map(|(path, entry)| format!("{path} = {}", entry.node.to_json()));
            (variant.name.clone(), sets.collect::<Vec<_>>().join(", "))
        };
        self.variants.iter().map(of).collect()
    }

    /// What a reader of the file may take for something else than it is: each with its line.
    pub fn warnings(&self) -> Vec<String> {
        let mut found: Vec<String> = self.settings.replaced(&self.variants).collect();
        found.extend(self.idle());
        for (key, node) in self.tree.texts().into_iter().chain(self.settings.texts()) {
            let Value::Text(text) = &node.value else {
                continue;
            };
            for told in rates(key, text).filter_map(bytes_a_second) {
                let fault = Fault::new(&node.span, key, told);
                let error = self.settings.error(&self.file, &self.text, fault);
                found.push(error.in_a_line());
            }
        }
        found
    }

    /// The JSON Schema (draft 2020-12) of a file.
    pub fn schema() -> Json {
        schema::schema()
    }

    /// Every key of a file as Markdown tables, for `docs/experiment.md`.
    pub fn reference() -> String {
        schema::reference()
    }

    /// Uses this seed in place of the file's.
    pub fn set_seed(&mut self, seed: u64) {
        self.seed = Some(seed);
    }

    /// Every point: variants, then axes in the order of the file (the last one moves fastest),
    /// then repetitions.
    ///
    /// # Errors
    /// A combination of values that cannot be, with its place.
    pub fn points(&self) -> Result<Vec<Point>, ParseError> {
        self.all_points()
            .map_err(|fault| self.settings.error(&self.file, &self.text, fault))
    }

    fn all_points(&self) -> Result<Vec<Point>, Fault> {
        let mut points = Vec::new();
        for matrix in self.matrices(&self.settings) {
            let matrix = matrix?;
            for number in 0..axes::product(&matrix.axes).unwrap_or(0) {
                let choice = axes::choose(&matrix.axes, number);
                let (point, draws) = self.point(&matrix, &choice)?;
                for repeat in 1..=self.repeat {
                    let mut point = point.clone();
                    point.seed = seed_of(point.seed, repeat);
                    draws.put_into(&mut point);
                    if self.repeat > 1 {
                        point.axes.insert("repeat".to_owned(), Json::from(repeat));
                    }
                    points.push(point);
                }
            }
        }
        Ok(points)
    }

    /// One tree for each variant; the file's own tree without variants.
    fn matrices<'a>(
        &'a self,
        settings: &'a Settings,
    ) -> impl Iterator<Item = Result<Matrix<'a>, Fault>> + 'a {
        let plain = self.variants.is_empty().then_some(None);
        let variants = plain.into_iter().chain(self.variants.iter().map(Some));
        variants.map(move |variant| {
            let mut tree = self.tree.clone();
            tree.entries.remove("variant");
            if let Some(variant) = variant {
                variant.apply(&mut tree, &variant::EXPERIMENT)?;
            }
            settings.apply(&mut tree, &variant::EXPERIMENT)?;
            let axes = axes::take(&mut tree)?;
            Ok(Matrix {
                variant,
                tree,
                axes,
            })
        })
    }

    /// Counts the points, then decodes each value of each axis once.
    fn check(&self) -> Result<(), Fault> {
        let mut total = 0_usize;
        for matrix in self.matrices(&self.settings) {
            let matrix = matrix?;
            let size = axes::product(&matrix.axes)
                .and_then(|n| n.checked_mul(self.repeat as usize))
                .unwrap_or(usize::MAX);
            total = total.saturating_add(size);
            let weight = self.weight(&matrix.tree);
            let work = total.saturating_mul(weight);
            if total > MAX_POINTS || work > MAX_WORK {
                return Err(self.too_many(&matrix));
            }
            let first = self.check_values(&matrix)?;
            self.check_measures(&first)?;
            self.check_names(&matrix.axes)?;
            let choice = Choice::new();
            let fields = root(&self.tree, &choice);
            view::check(&fields, &matrix.axes, &self.variants, &self.measures)?;
        }
        Ok(())
    }

    /// About how many bytes a point of this file takes.
    fn weight(&self, tree: &Table) -> usize {
        let items = ["host", "link", "app"].map(|key| tree.tables(key).count());
        let items = (items.iter().sum::<usize>()).saturating_mul(groups::largest(tree));
        let items = items.saturating_mul(if rrul::is_in(tree) { rrul::MAX_APPS } else { 1 });
        let counted = tree.texts().into_iter().map(counted);
        let counted = counted.fold(0, usize::saturating_add);
        let counted = counted.saturating_mul(groups::largest(tree));
        (self.text.len())
            .saturating_add(items.saturating_mul(512))
            .saturating_add(counted.saturating_mul(size_of::<Message>()))
    }

    fn too_many(&self, matrix: &Matrix<'_>) -> Fault {
        let sizes = matrix
            .axes
            .iter()
            .map(|axis| format!("{} ({})", axis.name, axis.values.len()));
        let sizes: Vec<String> = sizes.take(40).collect();
        let most = (MAX_WORK / self.weight(&matrix.tree).max(1)).min(MAX_POINTS);
        let message = format!(
            "more than {most} points: variants ({}), repeat ({}), axes {}",
            self.variants.len().max(1),
            self.repeat,
            sizes.join(", ")
        );
        Fault::new(&(0..0), "", message)
    }

    /// The names of measures, which are the same at every point.
    fn check_measures(&self, point: &Point) -> Result<(), Fault> {
        let choice = Choice::new();
        let fields = root(&self.tree, &choice);
        for (node, name) in fields.texts(&file::MEASURES)?.unwrap_or_default() {
            Measure::parse(name, point).map_err(|unknown| {
                let mut fault = fields.fault(&file::MEASURES, node, unknown.message());
                fault.help = unknown.help;
                fault
            })?;
        }
        Ok(())
    }

    /// An axis and a measure of one name would be one column of the results.
    fn check_names(&self, axes: &[Axis]) -> Result<(), Fault> {
        match axes.iter().find(|axis| self.measures.contains(&axis.name)) {
            None => Ok(()),
            Some(axis) => {
                let text = format!(
                    "an axis cannot be called `{}`, which is a measure",
                    axis.name
                );
                Err(Fault::new(&axis.span, &axis.path, text).help("give it another `name`"))
            }
        }
    }

    fn check_values(&self, matrix: &Matrix<'_>) -> Result<Point, Fault> {
        let first = axes::choose(&matrix.axes, 0);
        let (point, _) = self.point(matrix, &first)?;
        for axis in &matrix.axes {
            for value in 1..axis.values.len() {
                let mut choice = first.clone();
                choice.insert(axis.name.clone(), value);
                self.point(matrix, &choice)?;
            }
        }
        Ok(point)
    }

    /// A point with the file's seed, and what is to be drawn by the seed that it gets.
    fn point(&self, matrix: &Matrix<'_>, choice: &Choice) -> Result<(Point, Draws), Fault> {
        let fields = root(&matrix.tree, choice);
        fields.check_fixed(FILE)?;
        let written = rrul::expand(&fields)?;
        let fields = root(&written.tree, choice);
        let expanded = groups::expand(&fields)?;
        let fields = root(&expanded.tree, choice);
        let mut hosts = host::hosts(&fields.tables("host", usize::MAX)?)?;
        for host in &mut hosts {
            host.group = expanded.hosts.get(&host.name).cloned();
        }
        let none = Table::default();
        let run = fields.table("run")?.unwrap_or_else(|| root(&none, choice));
        let ip = run.word(&run::IP, &Ip::BOTH)?.unwrap_or_default();
        let mut links = link::links(&fields.tables("link", usize::MAX)?, (&hosts, ip))?;
        let tables = fields.tables("app", usize::MAX)?;
        if tables.is_empty() {
            return Err(Fault::new(
                &(0..0),
                "",
                "the experiment has no application: write `[[app]]`",
            ));
        }
        let mut apps = app::apps(&tables, &hosts, &links)?;
        app::locate(&mut apps, &self.file);
        link::locate(&mut links, &self.file);
        let draws = Draws::read(&tables)?;
        group(&mut apps, &expanded.apps, &written.apps);
        let planned = apps.iter().map(planned::planned_ns).max().unwrap_or(0);
        let run = of_run(&run, planned)?;
        // The series of sets are made of these samples.
        let step_ns = written.sets.iter().map(|set| set.step_ns).min();
        let point = Point {
            experiment: self.name.clone(),
            axes: self.axes_of(matrix, choice),
            seed: self.seed.unwrap_or(run.seed),
            ip,
            hosts,
            links,
            apps,
            sets: written.sets,
            tcp_info_every_ns: run.tcp_info_every_ns.or(step_ns),
            ..run
        };
        // Rules across keys, and the proof that files and manifests have the same rules.
        let checked = point.check();
        checked.map_err(|wrong| Fault::new(&(0..0), wrong.path, wrong.message))?;
        Ok((point, draws))
    }

    fn axes_of(&self, matrix: &Matrix<'_>, choice: &Choice) -> BTreeMap<String, Json> {
        let value = |axis: &Axis| {
            let index = choice.get(&axis.name).copied().unwrap_or(0);
            let value = axis.values.get(index).cloned().unwrap_or(Json::Null);
            (axis.name.clone(), value)
        };
        let mut out: BTreeMap<String, Json> = matrix.axes.iter().map(value).collect();
        if let Some(variant) = matrix.variant {
            out.insert("variant".to_owned(), Json::from(variant.name.as_str()));
        }
        out
    }
}

/// Items that a short text stands for: `client 100 x 1000`, `1000 of uniform(1..9)`.
fn counted((key, node): (&str, &Node)) -> usize {
    let Value::Text(text) = &node.value else {
        return 0;
    };
    let mut words = text.split_whitespace();
    let number = match key {
        "messages" => words.skip_while(|word| *word != "x").nth(1),
        "sizes" => words.next(),
        _ => None,
    };
    // What has more is refused.
    let number = number.and_then(|word| word.parse().ok());
    number.unwrap_or(0).min(MAX_PAGES)
}

/// A point with what `[run]` says.
fn of_run(fields: &Fields<'_>, planned_ns: i64) -> Result<Point, Fault> {
    fields.check(&[RUN])?;
    fields.check_fixed(RUN)?;
    let longest = i64::try_from(MAX_TIME_NS).unwrap_or(i64::MAX);
    let max_ns = planned_ns
        .saturating_mul(2)
        .saturating_add(60 * SECOND_NS)
        .min(longest);
    let point = Point {
        seed: fields.get(&run::SEED)?,
        max_ns: fields.find(&run::MAX)?.unwrap_or(max_ns),
        max_events: fields.find(&run::MAX_EVENTS)?,
        boot_ns: fields.find(&run::BOOT)?,
        linger_ns: fields.get(&run::LINGER)?,
        tcp_info_every_ns: fields.find(&run::TCP_INFO_EVERY)?,
        link_every_ns: fields.find(&run::LINK_EVERY)?,
        snap_bytes: fields.get(&run::SNAP)?,
        captures: fields.get(&run::CAPTURES)?,
        tcp_info: fields.get(&run::TCP_INFO)?,
        log: fields.get(&run::LOG)?,
        tolerate: strings(fields, &run::TOLERATE, 100)?,
        ..Point::default()
    };
    match (fields.node(&run::LINK_EVERY), point.link_every_ns) {
        (Some(node), Some(every)) if point.max_ns / every > MOST_SAMPLES => {
            let message = format!(
                "makes more than {MOST_SAMPLES} samples until `max`: write a longer time, or a shorter `max`"
            );
            Err(fields.fault(&run::LINK_EVERY, node, message))
        }
        _ => Ok(point),
    }
}

pub(crate) fn root<'a>(tree: &'a Table, choice: &'a Choice) -> Fields<'a> {
    Fields {
        table: tree,
        span: 0..0,
        path: String::new(),
        choice,
    }
}

/// The names of stacks; an empty list would be the default, which it does not say.
fn stacks(table: &Fields<'_>) -> Result<Vec<String>, Fault> {
    let names = strings(table, &run::STACKS, 64)?;
    match table.node(&run::STACKS).filter(|_| names.is_empty()) {
        Some(node) => Err(table.fault(
            &run::STACKS,
            node,
            "the list is empty; remove it to use the model",
        )),
        None => Ok(names),
    }
}

fn strings(fields: &Fields<'_>, key: &Key, max: usize) -> Result<Vec<String>, Fault> {
    let list = fields.texts(key)?.unwrap_or_default();
    match (list.len() > max, fields.node(key)) {
        (true, Some(node)) => Err(fields.fault(key, node, format!("more than {max} entries"))),
        _ => Ok(list.into_iter().map(|(_, text)| text.to_owned()).collect()),
    }
}

/// A file's name without its folder and ending, as a name.
pub(crate) fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let good = |c: &char| c.is_ascii_alphanumeric() || "_-".contains(*c);
    let name: String = name.chars().filter(good).take(32).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => "experiment".to_owned(),
    }
}

/// Writes the hosts and the link that a file may leave out, so that variants can name them.
fn fill(tree: &mut Table) {
    let entry = |value| Entry::at(&(0..0), value);
    let list = |values: Vec<Value>| {
        let nodes = values.into_iter().map(|value| entry(value).node);
        Value::List(nodes.collect())
    };
    let with = |name: &str, value| Table::of(&(0..0), [(name, value)]);
    tree.entries.entry("host".to_owned()).or_insert_with(|| {
        let host = |name: &str| with("name", Value::Text(name.to_owned()));
        entry(list(vec![host("client"), host("server")]))
    });
    let hosts = tree.tables("host").filter_map(fields::name_of);
    let names: Vec<Value> = hosts.map(|name| Value::Text(name.to_owned())).collect();
    if names.len() != 2 {
        return;
    }
    let between = || list(names.clone());
    (tree.entries.entry("link".to_owned()))
        .or_insert_with(|| entry(list(vec![with("between", between())])));
    for link in tree.tables_mut("link") {
        (link.entries.entry("between".to_owned())).or_insert_with(|| entry(between()));
    }
}

/// The seed of a repetition. The first has the run's own seed; the others are mixed from it (splitmix64; Steele, Lea,
/// Flood 2014), with 53 bits, which every reader of JSON preserves. Variants and axes do not change the seed, so they
/// see the same draws.
fn seed_of(seed: u64, repeat: u32) -> u64 {
    if repeat <= 1 {
        return seed;
    }
    let z = seed.wrapping_add(u64::from(repeat - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 11
}

/// Members of a group start one after the other. `of_hosts`: the group of each application that was written for a group of
/// hosts; `of_sets`: the set of each that was written for a set.
fn group(
    apps: &mut [App],
    of_hosts: &BTreeMap<String, String>,
    of_sets: &BTreeMap<String, String>,
) {
    let mut members: BTreeMap<&str, u64> = BTreeMap::new();
    for app in apps {
        let group = of_hosts.get(&app.name);
        if let Some(group) = group {
            let before = members.entry(group).or_insert(0);
            let after = app::after(app, *before);
            app.start_ns = app.start_ns.saturating_add(after);
            app.server_connects_ns = app.server_connects_ns.map(|at| at.saturating_add(after));
            *before += 1;
        }
        app.group = group.or_else(|| of_sets.get(&app.name)).cloned();
    }
}

/// The rates in a text at this key: all of it, or what stands behind `rate` in a `change`.
fn rates<'a>(key: &str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let whole = ["rate", "max_pacing_rate"].contains(&key).then_some(text);
    // Behind `qdisc` stand tc's words.
    let own = || text.split_whitespace().take_while(|word| *word != "qdisc");
    let is_change = key == "change";
    let words = own().filter(move |_| is_change);
    let within = own().zip(words.skip(1)).filter(|(name, _)| *name == "rate");
    whole.into_iter().chain(within.map(|(_, rate)| rate))
}
