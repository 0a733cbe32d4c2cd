//! Progress on standard error: bars on a terminal, or lines of JSON for a program. Of a capture a bar by bytes read, or a
//! count of bytes when the size is not known; small files are done before anything shows.

use std::io::{self, IsTerminal, Read};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tcplab_base::safe;
use tcplab_os::say;

/// Time between two lines of [`Form::Json`].
const BETWEEN: Duration = Duration::from_millis(100);

/// Bytes between two updates of the bar: seldom enough to cost nothing.
const STEP: u64 = 1 << 20;

/// Time from which on progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Files from this size on show a bar at once.
const LARGE: u64 = 50_000_000;

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Bars, on a terminal only
    #[default]
    Auto,
    /// A JSON object on a line of standard error, at most ten a second
    Json,
    /// Not at all
    Never,
}

static FORM: OnceLock<Form> = OnceLock::new();

/// Says once how progress is shown.
pub fn set(form: Form) {
    let _ = FORM.set(form);
}

fn form() -> Form {
    FORM.get().copied().unwrap_or_default()
}

/// What is shown for people.
pub fn is_for_people() -> bool {
    form() == Form::Auto && io::stderr().is_terminal()
}

/// Work that is counted: points, connections, cases.
pub struct Bar {
    what: &'static str,
    bar: Option<ProgressBar>,
    lines: Option<Lines>,
}

/// What is written as lines.
struct Lines {
    /// It is never drawn, and knows the time.
    clock: ProgressBar,
    /// When the last line was written.
    last: Mutex<Duration>,
}

impl Lines {
    fn show(&self, what: &str, done: u64, all: u64) {
        let Ok(mut last) = self.last.lock() else {
            return;
        };
        let now = self.clock.elapsed();
        if done == all || now >= *last + BETWEEN {
            *last = now;
            let text = format!(r#"{{"what":"{what}","done":{done},"total":{all}}}"#);
            say(&format!(r#"{{"progress":{text}}}"#));
        }
    }
}

impl Bar {
    /// Nothing is shown before something is done. The template is indicatif's.
    pub fn new(what: &'static str, template: &str) -> Self {
        let bar = is_for_people().then(|| {
            let bar = ProgressBar::new(0);
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            bar.set_style(style.progress_chars("=> "));
            bar
        });
        let lines = (form() == Form::Json).then(|| Lines {
            clock: ProgressBar::hidden(),
            last: Mutex::default(),
        });
        Self { what, bar, lines }
    }

    /// So much is done, of so much.
    pub fn show(&self, done: u64, all: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(all);
            bar.set_position(done);
        }
        if let Some(lines) = &self.lines {
            lines.show(self.what, done, all);
        }
    }

    /// What is said beside it, to people; it is made from the time since the beginning.
    pub fn say(&self, words: impl FnOnce(Duration) -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(safe(&words(bar.elapsed())));
        }
    }

    /// The terminal is free for the result.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A reader that moves a progress bar.
pub struct Watched {
    inner: Box<dyn Read>,
    bar: Option<ProgressBar>,
    large: bool,
    shown: bool,
    read: u64,
    next: u64,
}

impl Watched {
    /// Wraps an input. `size` is the size of the stored file, so it fits packed files too.
    pub fn new(inner: Box<dyn Read>, name: &str, size: Option<u64>) -> Self {
        let bar = is_for_people().then(|| {
            let (bar, template) = match size {
                Some(n) => (
                    ProgressBar::with_draw_target(Some(n), ProgressDrawTarget::hidden()),
                    "{prefix} [{bar:30}] {bytes} of {total_bytes}, {eta} left",
                ),
                None => (
                    ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
                    "{prefix} {spinner} {bytes} read",
                ),
            };
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
            bar.set_style(style);
            bar.set_prefix(safe(name));
            bar
        });
        Self {
            inner,
            bar,
            large: size.is_some_and(|n| n >= LARGE),
            shown: false,
            read: 0,
            next: STEP,
        }
    }

    #[cold]
    fn update(&mut self) {
        self.next = self.read + STEP;
        let Some(bar) = &self.bar else { return };
        if !self.shown && (self.large || bar.elapsed() >= PATIENCE) {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            self.shown = true;
        }
        bar.set_position(self.read);
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read += n as u64;
        if self.read >= self.next {
            self.update();
        }
        Ok(n)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
