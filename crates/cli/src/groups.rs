//! The commands by what they are for, as `tcplab --help` lists them.

use std::fmt::Write;

use clap::Command;

/// Places of the groups: the `display_order` of their commands.
pub const ANALYSE: usize = 0;
pub const RUN: usize = 1;
pub const TEST: usize = 2;
pub const PREPARE: usize = 3;
pub const GENERATE: usize = 4;
pub const LEARN: usize = 5;

/// Their headings.
const HEADINGS: [&str; 6] = [
    "Analyse captures",
    "Run experiments",
    "Test kernels, machines and lines",
    "Prepare this machine",
    "Generate files for other programs",
    "Look things up",
];

/// The command line, whose help lists its commands under headings.
pub fn grouped(command: Command) -> Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let mut list = String::new();
    for (group, heading) in HEADINGS.iter().enumerate() {
        let _ = writeln!(list, "{header}{heading}:{header:#}");
        let of_group = |sub: &&Command| sub.get_display_order() == group;
        for sub in command.get_subcommands().filter(of_group) {
            let (name, about) = (sub.get_name(), sub.get_about());
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(list, "  {literal}{name:<11}{literal:#}  {about}");
        }
        list.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\
         `tcplab COMMAND --help` describes a command, `tcplab help WORD` explains a word.\n\n\
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
        let names = command.get_subcommands().map(Command::get_name);
        let names: Vec<String> = names.map(str::to_owned).collect();
        let help = grouped(command).render_help().to_string();
        for name in names {
            let line = help.lines().find(|l| l.starts_with(&format!("  {name} ")));
            assert!(line.is_some_and(|l| l.len() <= 80), "{name}: {line:?}");
        }
    }
}
