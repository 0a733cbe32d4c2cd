//! `cargo xtask documents`: every fenced block and every command in the Markdown files is tried.
//!
//! | block | what is done |
//! |---|---|
//! | `console` | its commands are run, and what they print is compared ([`console`]) |
//! | `toml` | an experiment or a population: run on the model; an edit of a kernel: read ([`experiment`]) |
//! | `toml` with `<!-- example: completed by: TOML -->` or `points: N` | the same of a fragment; N points come out |
//! | `json` | read |
//! | `python` | `python/tests/test_documents.py` runs it |
//! | `<!-- example: expressions -->`, `distributions` | each line is read ([`words`]) |
//! | `<!-- example: not run: REASON -->` | its commands are read: options, stacks, files ([`usage`]) |
//! | a table below `<!-- example: run below: FILE=tests/a.pcap ... -->` | its commands are run with these files ([`table`]) |
//!
//! Any other block is a failure, so that nothing new escapes. A command in a code span is read too, as are a qdisc's
//! words, a distribution, and a key of an experiment with its value ([`keys`]). A command on a kernel that is not built here is not run, and counted.
//! `--write` puts the real output into the documents, where no `...` shortens it.

mod console;
mod experiment;
mod keys;
mod markdown;
mod scratch;
mod shell;
mod table;
mod tally;
mod usage;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

use crate::tidy::tree::SKIPPED_FOLDERS;
use console::Example;
use experiment::Done;
use markdown::{Block, Page, Span};
use scratch::Scratch;
use tally::{Found, Tally};
use usage::Usage;

/// History: its commands were right when they were written.
const HISTORY: &str = "CHANGELOG.md";

/// What `cargo xtask documents` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Replace the output in the documents by the real one
    #[arg(long)]
    write: bool,
    /// The program, in place of the release build
    #[arg(long, value_name = "FILE")]
    tcplab: Option<PathBuf>,
    /// List each block that is not run, and why
    #[arg(short, long)]
    verbose: bool,
    /// Only the files whose path contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// What blocks are tried with.
struct Check<'a> {
    usage: Usage<'a>,
    /// What `tcplab stacks --json` printed.
    stacks: String,
    write: bool,
}

/// Tries every example of every document below `root`.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let tcplab = program(root, args)?;
    let check = Check {
        stacks: stacks(&tcplab)?,
        usage: Usage {
            root,
            tcplab: &tcplab,
        },
        write: args.write,
    };
    let mut pages = Vec::new();
    pages_below(root, "", &mut pages)?;
    pages.retain(|page| page.name.contains(&args.only));
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    let found = check.all(&pages)?;
    let mut tally = Tally::default();
    for (page, found) in pages.iter_mut().zip(found) {
        // From the end, so that what is written moves no line that is still to come.
        for found in found.iter().rev() {
            for (lines, output) in &found.output {
                page.lines.splice(lines.clone(), output.iter().cloned());
            }
        }
        if args.write {
            let text = page.lines.join("\n") + "\n";
            fs::write(root.join(&page.name), text)
                .with_context(|| format!("cannot write {}", page.name))?;
        }
        tally.add(&page.name, found);
    }
    Ok(tally.print(args.verbose))
}

/// The program that the documents are about.
fn program(root: &Path, args: &Args) -> Result<PathBuf> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let release = root.join(target).join("release/tcplab");
    let path = args.tcplab.clone().unwrap_or(release);
    fs::canonicalize(&path).with_context(|| {
        let path = path.display();
        format!(
            "no program {path}: build it (cargo build --release -p tcplab), or name one by --tcplab"
        )
    })
}

fn stacks(tcplab: &Path) -> Result<String> {
    let output = Command::new(tcplab).args(["stacks", "--json"]).output();
    let output = output.with_context(|| format!("cannot run {}", tcplab.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The Markdown files of a folder and of those in it.
fn pages_below(root: &Path, folder: &str, pages: &mut Vec<Page>) -> Result<()> {
    let entries = fs::read_dir(root.join(folder));
    for entry in entries.with_context(|| format!("cannot list {folder}"))? {
        let entry = entry.with_context(|| format!("cannot list {folder}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}{name}");
        if entry.path().is_dir() {
            if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                pages_below(root, &format!("{path}/"), pages)?;
            }
        } else if name.ends_with(".md") && name != HISTORY {
            let text = fs::read_to_string(entry.path());
            let text = text.with_context(|| format!("cannot read {path}"))?;
            pages.push(Page::parse(&path, &text));
        }
    }
    Ok(())
}

impl Check<'_> {
    /// What is found in each page, in the order of its lines.
    fn all(&self, pages: &[Page]) -> Result<Vec<Vec<Found>>> {
        let blocks = pages.iter().enumerate();
        let jobs: Vec<(usize, Option<&Block>)> = blocks
            .flat_map(|(at, page)| {
                let blocks = page.blocks.iter().map(Some);
                blocks.chain([None]).map(move |block| (at, block))
            })
            .collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let work = || -> Result<()> {
            while let Some((at, block)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let found = match block {
                    Some(block) => vec![self.block(block)?],
                    None => self.spans(&pages[*at])?,
                };
                done.lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .push((*at, found));
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut results = workers.into_iter().map(|worker| {
                let result = worker.join();
                result.unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
            });
            results.by_ref().collect::<Result<Vec<()>>>()
        })?;
        let mut all: Vec<Vec<Found>> = pages.iter().map(|_| Vec::new()).collect();
        let done = done
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for (at, found) in done {
            all[at].extend(found);
        }
        for found in &mut all {
            found.sort_by_key(|found| found.line);
        }
        Ok(all)
    }

    /// Tries a block.
    fn block(&self, block: &Block) -> Result<Found> {
        let mut found = Found::at(block.line);
        let mark = block.mark.as_ref();
        let (kind, text) = mark.map_or(("", ""), |m| (m.kind.as_str(), m.text.as_str()));
        match (kind, block.info.as_str()) {
            ("not run", _) if text.is_empty() => {
                found.wrong(block.line, "the mark gives no reason".into());
            }
            ("not run", _) => {
                found.not_run = Some(text.split_whitespace().collect::<Vec<_>>().join(" "));
                for (number, line) in shell::joined(&block.content) {
                    if line.contains("cd ") {
                        // What follows runs elsewhere.
                        break;
                    }
                    let (commands, wrong) = self.usage.line(&line, true)?;
                    found.usages += commands;
                    for why in wrong {
                        found.wrong(block.line + 1 + number, why);
                    }
                }
            }
            ("expressions", _) => lines(block, &mut found, words::expression),
            ("distributions", _) => lines(block, &mut found, words::distribution),
            ("", "console") => self.console(block, &mut found)?,
            ("" | "completed by", "toml") => {
                let whole = block.content.join("\n") + "\n" + text;
                self.experiment(block, &whole, &mut found)?;
            }
            ("points", "toml") => {
                self.experiment(block, &block.content.join("\n"), &mut found)?;
                if found.points.to_string() != text {
                    let points = found.points;
                    found.wrong(block.line, format!("{points} points, not {text}"));
                }
            }
            ("", "python") => found.not_run = Some("python/tests/test_documents.py runs it".into()),
            ("", "json") => {
                let text = block.content.join("\n");
                let read: serde_json::Result<serde_json::Value> = serde_json::from_str(&text);
                found.read = true;
                if let Err(e) = read {
                    found.wrong(block.line, format!("no JSON: {e}"));
                }
            }
            _ => found.wrong(block.line, format!(
                "no rule for a block `{}` with the mark `{kind}`: make it `console`, `toml`, `json` or `python`, or say why it is not run: \
                 <!-- example: not run: REASON -->",
                block.info
            )),
        }
        Ok(found)
    }

    fn experiment(&self, block: &Block, text: &str, found: &mut Found) -> Result<()> {
        match experiment::check(&self.usage, text)? {
            Done::Read => found.read = true,
            Done::Ran(points) => found.points = points,
            Done::Wrong(why) => found.wrong(block.line, why),
        }
        Ok(())
    }

    fn console(&self, block: &Block, found: &mut Found) -> Result<()> {
        let examples = Example::all(&block.content);
        if examples.is_empty() {
            found.wrong(
                block.line,
                "a block `console` has no line `$ COMMAND`".into(),
            );
        }
        let scratch = Scratch::new(self.usage.root)?;
        // From the end, as its output is put in.
        let mut output = Vec::new();
        for example in &examples {
            let line = block.line + 1 + example.line;
            if let Some(kernel) = self.missing_kernel(&example.command) {
                found.not_run = Some(format!("{kernel} is not built here"));
                continue;
            }
            let ran = console::execute(&scratch, self.usage.tcplab, &example.command)?;
            found.commands += 1;
            found.compared += usize::from(!example.expected.is_empty());
            if self.write
                && ran.exit_code == example.exit_code
                && !example.expected.is_empty()
                && !example.is_shortened()
            {
                let first = line + 1;
                output.push((first..first + example.expected.len(), ran.out));
            } else if let Some(why) = example.judge(&ran) {
                found.wrong(line, why);
            }
        }
        output.reverse();
        found.output = output;
        Ok(())
    }

    /// The first kernel of the command's `--on` that is not here.
    fn missing_kernel(&self, command: &str) -> Option<String> {
        let words = command.split([' ', ',']);
        let mut kernels = words.filter(|word| word.starts_with("uml:"));
        let missing = kernels.find(|kernel| !self.stacks.contains(&format!("\"{kernel}\"")));
        missing.map(str::to_owned)
    }

    /// Runs the commands of a table. One that ends with another code than 0 has `(exit code N)` in its row.
    fn table(&self, page: &Page, span: &Span, with: &str, found: &mut Found) -> Result<()> {
        let row = &page.lines[span.line];
        let code = row.split_once("(exit code ").map_or("0", |(_, rest)| rest);
        let code = code.split(')').next().unwrap_or_default();
        for line in table::runnable(&span.text, with) {
            let scratch = Scratch::new(self.usage.root)?;
            let ran = console::execute(&scratch, self.usage.tcplab, &line)?;
            found.commands += 1;
            if ran.exit_code.to_string() != code {
                let (ended, err) = (ran.exit_code, ran.err);
                found.wrong(span.line, format!("`{line}` ended with {ended}: {err}"));
            }
        }
        Ok(())
    }

    /// Reads the code spans of a page.
    fn spans(&self, page: &Page) -> Result<Vec<Found>> {
        let mut all = Vec::new();
        for span in &page.spans {
            let mut found = Found::at(span.line);
            let (commands, wrong) = self.usage.line(&span.text, false)?;
            found.usages = commands;
            for why in wrong {
                found.wrong(span.line, why);
            }
            if let Some(with) = &span.run_with {
                self.table(page, span, with, &mut found)?;
            }
            let (is_words, is_key) = (words::is_known(&span.text), keys::is_known(&span.text));
            found.words = usize::from(is_words || is_key);
            let wrong = match (is_words, is_key) {
                (true, _) => words::span(&span.text),
                (_, true) => keys::span(&span.text),
                _ => None,
            };
            if let Some(why) = wrong {
                found.wrong(span.line, format!("`{}`: {why}", span.text));
            }
            all.push(found);
        }
        for (line, text) in page.lines.iter().enumerate() {
            for wrong in words::told_sizes(text) {
                let mut found = Found::at(line);
                found.words = 1;
                if let Some(why) = wrong {
                    found.wrong(line, why);
                }
                all.push(found);
            }
        }
        Ok(all)
    }
}

/// Reads each line of a block.
fn lines(block: &Block, found: &mut Found, read: fn(&str) -> Option<String>) {
    found.read = true;
    for (number, line) in block.content.iter().enumerate() {
        found.words += 1;
        if let Some(why) = read(line) {
            found.wrong(block.line + 1 + number, format!("`{line}`: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries the only block of a page. No program is there, so what would run one is an error.
    fn found(text: &str) -> Result<Found> {
        let check = Check {
            usage: Usage {
                root: Path::new("/"),
                tcplab: Path::new("/nowhere/tcplab"),
            },
            stacks: r#"{"stack":"uml:6.1"}"#.to_owned(),
            write: false,
        };
        check.block(&Page::parse("a.md", text).blocks[0])
    }

    #[test]
    fn a_block_that_no_rule_covers_is_wrong() {
        for text in [
            "```\nx\n```",
            "```text\nx\n```",
            "```sh\nls\n```",
            "```ruby\nx\n```",
            "text\n\n    indented",
            "```console\nno command\n```",
            "<!-- example: not run -->\n```sh\nls\n```",
            "<!-- example: not run: because -->\n\n```sh\nls\n```",
            "<!-- example: nonsense: because -->\n```sh\nls\n```",
        ] {
            assert!(found(text).unwrap().is_wrong(), "{text}");
        }
        let right = found("<!-- example: not run: needs a disk -->\n```sh\nls\n```").unwrap();
        assert!(!right.is_wrong());
        assert_eq!(right.not_run.as_deref(), Some("needs a disk"));
    }

    #[test]
    fn lines_of_small_languages_are_read() {
        let mark = "<!-- example: expressions -->\n";
        let right = found(&format!("{mark}```text\na > 1\nb < 2\n```")).unwrap();
        assert_eq!((right.is_wrong(), right.words), (false, 2));
        assert!(
            found(&format!("{mark}```text\na >\n```"))
                .unwrap()
                .is_wrong()
        );
        assert!(!found("```json\n{\"a\": 1}\n```").unwrap().is_wrong());
        assert!(found("```json\n{...}\n```").unwrap().is_wrong());
    }

    #[test]
    fn command_on_a_missing_kernel_is_not_run() {
        let text = "```console\n$ tcplab run x --on uml:6.1,uml:6.1+mine\n```";
        let found = found(text).unwrap();
        assert_eq!((found.commands, found.is_wrong()), (0, false));
        assert_eq!(
            found.not_run.as_deref(),
            Some("uml:6.1+mine is not built here")
        );
    }
}
