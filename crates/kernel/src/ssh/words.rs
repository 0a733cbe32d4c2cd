//! What ssh and the far side say on standard error: kept at its end, for errors.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that are kept.
const KEPT: usize = 2_000;

/// The last words of a client.
#[derive(Clone, Debug)]
pub(super) struct Words(Arc<(Mutex<Text>, Condvar)>);

#[derive(Debug, Default)]
struct Text {
    bytes: Vec<u8>,
    is_ended: bool,
}

impl Words {
    /// Reads in a thread of its own.
    pub(super) fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let words = Self(Arc::default());
        let ours = words.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                ours.add(&buffer[..n]);
            }
            let (text, ended) = &*ours.0;
            text.lock().unwrap_or_else(PoisonError::into_inner).is_ended = true;
            ended.notify_all();
        });
        words
    }

    /// Adds to them.
    pub(super) fn add(&self, bytes: &[u8]) {
        let mut text = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.bytes.extend_from_slice(bytes);
        if text.bytes.len() > 2 * KEPT {
            let from = text.bytes.len() - KEPT;
            text.bytes.drain(..from);
        }
    }

    /// All that came, after a while for the rest: the process of a shared connection
    /// (ControlPersist) keeps the pipe open.
    pub(super) fn last(&self) -> String {
        const PATIENCE: Duration = Duration::from_secs(1);
        let (text, ended) = &*self.0;
        let text = text.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = ended.wait_timeout_while(text, PATIENCE, |text| !text.is_ended);
        let text = waited.unwrap_or_else(PoisonError::into_inner).0;
        let text = String::from_utf8_lossy(&text.bytes).replace('\r', "");
        text.trim().to_owned()
    }
}
