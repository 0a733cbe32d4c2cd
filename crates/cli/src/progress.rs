//! Progress on standard error, on a terminal only: a bar by bytes read, or a count of bytes when
//! the size is not known. Small files are done before anything shows.

use std::io::{self, IsTerminal, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tcplab_base::safe;

/// Bytes between two updates of the bar: seldom enough to cost nothing.
const STEP: u64 = 1 << 20;

/// Time from which on progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Files from this size on show a bar at once.
const LARGE: u64 = 50_000_000;

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
    /// Wraps an input. `size` is that of the file as stored, so it fits packed files too.
    pub fn new(inner: Box<dyn Read>, name: &str, size: Option<u64>) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
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
