//! `tcplab schema`, `tcplab completions` and `tcplab man`: what other programs read about this one.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use tcplab_compare::{Comparison, Metrics, QaDocument};
use tcplab_inject::InjectDocument;
use tcplab_lab::drill::DrillDocument;
use tcplab_os::output::write_own;
use tcplab_plan::population::{PopulationDocument, VariantsDocument};
use tcplab_plan::result::{ReproduceDocument, RunDocument};
use tcplab_plan::{Experiment, Population};

use crate::analyze::{json, pair};
use crate::args::{Color, SchemaArgs, SchemaName};
use crate::exit;
use crate::explain;
use crate::failure::Failure;
use crate::fields;
use crate::help::paper;
#[cfg(target_os = "linux")]
use crate::link;
#[cfg(target_os = "linux")]
use crate::probe;
use crate::screen;
use crate::terminal::theme;

/// Prints the JSON Schema of a result or of an experiment file, or its fields as text.
///
/// # Errors
/// `--fields` with a name that the schema does not have.
pub fn schema(args: &SchemaArgs, color: Color) -> Result<ExitCode, Failure> {
    let schema = schema_of(args.name);
    if let Some(of) = &args.fields {
        let theme = theme(color, false);
        let text = paper(&theme, &fields::sections(&schema, of)?);
        screen::painted(&theme).write_all(text.trim_start().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = screen::json(io::stdout().lock());
    serde_json::to_writer_pretty(&mut out, &schema).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(ExitCode::SUCCESS)
}

fn schema_of(name: SchemaName) -> serde_json::Value {
    match name {
        SchemaName::Analyze => of::<json::Document>(),
        SchemaName::Pair => of::<pair::Document>(),
        SchemaName::Explain => of::<explain::json::Document>(),
        SchemaName::Experiment => Experiment::schema(),
        SchemaName::PopulationFile => Population::schema(),
        SchemaName::Population => of::<PopulationDocument>(),
        SchemaName::PopulationVariants => of::<VariantsDocument>(),
        SchemaName::Run => of::<RunDocument>(),
        SchemaName::Reproduce => of::<ReproduceDocument>(),
        SchemaName::Drill => of::<DrillDocument>(),
        #[cfg(target_os = "linux")]
        SchemaName::Link => of::<link::json::Line>(),
        SchemaName::Inject => of::<InjectDocument>(),
        #[cfg(target_os = "linux")]
        SchemaName::Diff => of::<tcplab_diff::DiffDocument>(),
        SchemaName::Compare => of::<Comparison>(),
        SchemaName::Qa => of::<QaDocument>(),
        SchemaName::Metrics => of::<Metrics>(),
        #[cfg(target_os = "linux")]
        SchemaName::Probe => of::<probe::json::Document>(),
    }
}

/// The schema of what is written, not of what may be read: members that are left out when they say nothing are not required.
fn of<T: JsonSchema>() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let generator = settings.into_generator();
    generator.into_root_schema_for::<T>().into()
}

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    // Into memory first: the generator panics when its writer fails (`| head`).
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut exit::command(), "tcplab", &mut script);
    screen::plain().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page: the command, then each subcommand. With a folder, a page for each there.
pub fn man(folder: Option<&Path>) -> Result<ExitCode, Failure> {
    if let Some(folder) = folder {
        return pages(folder);
    }
    let mut page = Vec::new();
    let command = exit::command();
    let whole = clap_mangen::Man::new(command.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    whole.render_synopsis_section(&mut page)?;
    whole.render_options_section(&mut page)?;
    for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        let name = format!("tcplab {}", sub.get_name());
        writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
        let man = clap_mangen::Man::new(sub.clone().display_name(name.clone()).bin_name(name));
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if sub.get_after_help().is_some() {
            man.render_extra_section(&mut page)?;
        }
    }
    whole.render_extra_section(&mut page)?;
    screen::plain().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes `tcplab.1`, and `tcplab-NAME.1` of each command and those below it.
fn pages(folder: &Path) -> Result<ExitCode, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::output(folder, &e))?;
    let mut command = exit::command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, folder)?;
    Ok(ExitCode::SUCCESS)
}

fn write_pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for sub in shown {
        write_pages(sub, folder)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    let path = folder.join(man.get_filename());
    write_own(&path, page).map_err(|e| Failure::output(&path, &e))
}
