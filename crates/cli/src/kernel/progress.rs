//! What a build shows while it runs, on standard error: a bar of make's steps on a terminal,
//! plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use tcplab_base::safe;
use tcplab_guest::build::Step;
use tcplab_os::say;

/// Steps between two plain lines.
const EVERY: u64 = 100;

/// Shows the steps of a build.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Before each line: which of several builds this is.
    place: String,
}

impl Progress {
    /// On standard error; `place` stands before each line.
    pub fn new(place: &str) -> Self {
        let bar = crate::progress::is_for_people().then(ProgressBar::new_spinner);
        Self {
            bar,
            place: place.to_owned(),
        }
    }

    /// Shows one step.
    pub fn show(&mut self, step: Step) {
        match (&self.bar, step) {
            (_, Step::Waiting(wait)) => self.line(&wait.to_string()),
            (_, Step::Phase(text)) => self.line(text),
            (
                Some(bar),
                Step::Compiled {
                    done,
                    expected,
                    file,
                },
            ) => {
                let template = match expected {
                    Some(steps) => {
                        bar.set_length(steps.max(done));
                        "[{bar:30}] {pos} of about {len}, {elapsed} {wide_msg}"
                    }
                    None => "{spinner} {pos} {elapsed} {wide_msg}",
                };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style.progress_chars("=> "));
                }
                bar.set_position(done);
                bar.set_message(safe(file));
            }
            (None, Step::Compiled { done, expected, .. }) if done % EVERY == 0 => {
                let of = expected.map_or(String::new(), |n| format!(" of about {n}"));
                say(&format!("  {done}{of} steps"));
            }
            (None, Step::Compiled { .. }) => (),
        }
    }

    fn line(&self, text: &str) {
        let text = format!("{}{text}", self.place);
        match &self.bar {
            Some(bar) => {
                bar.println(safe(&text));
                bar.set_position(0);
            }
            None => say(&text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
