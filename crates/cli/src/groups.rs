//! The commands by what they are for, as `tcplab --help` lists them.

use std::fmt::Write;

use clap::Command;

/// Headings with their commands. A test fails if a command is missing here.
const GROUPS: &[(&str, &[&str])] = &[
    ("Analyse captures", &["analyze", "explain"]),
    (
        "Run experiments",
        &[
            "new",
            "examples",
            "run",
            "report",
            "bisect",
            "population",
            "merge",
            "reproduce",
        ],
    ),
    (
        "Test kernels, machines and lines",
        &["compare", "bench", "qa", "drill", "inject", "probe", "link"],
    ),
    ("Prepare this machine", &["doctor", "stacks", "kernel"]),
    (
        "Generate files for other programs",
        &["schema", "completions", "man"],
    ),
];

/// The command line, whose help lists its commands under headings.
pub fn grouped(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut list = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(list, "{header}{heading}:{header:#}");
        // Some commands exist on Linux only.
        let here = |name: &&&str| command.find_subcommand(name).is_some();
        for name in names.iter().filter(here) {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {literal}{name:<11}{literal:#}  {about}");
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\
         `tcplab COMMAND --help` describes a command.\n\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group_and_fits_a_line() {
        let command = Cli::command();
        let mut there: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        there.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, there);
        let help = grouped(command).render_help().to_string();
        for name in listed {
            let line = help.lines().find(|l| l.starts_with(&format!("  {name} ")));
            assert!(line.is_some_and(|l| l.len() <= 80), "{name}: {line:?}");
        }
    }
}
