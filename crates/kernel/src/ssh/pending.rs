//! A request on its way: what has come of it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use tcplab_base::Instant;
use tcplab_os::Stop;

use super::frame::What;
use super::session::Session;
use super::{Reply, SshError};

/// How often the wish to stop is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// What the reader of a session has heard.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) what: What,
    pub(super) bytes: Vec<u8>,
    /// When, on our CLOCK_REALTIME.
    pub(super) at: Instant,
}

/// One message of a far side.
#[derive(Debug)]
pub struct Message {
    /// What it says.
    pub reply: Reply,
    /// What belongs to it.
    pub bytes: Vec<u8>,
    /// Nothing follows.
    pub is_last: bool,
    /// When it was heard, on our CLOCK_REALTIME.
    pub at: Instant,
}

/// A request that the far side works on. Dropped, it is told to stop.
#[derive(Debug)]
pub struct Pending<'a> {
    pub(super) session: &'a Session,
    pub(super) id: u32,
    pub(super) from: Receiver<Heard>,
    pub(super) is_over: bool,
}

impl Pending<'_> {
    /// The next message. Not to be called after the last one.
    ///
    /// # Errors
    /// The request failed there, the connection went away, or the user wants an end.
    pub fn next(&mut self, stop: &Stop) -> Result<Message, SshError> {
        loop {
            if stop.wanted() {
                return Err(SshError::Interrupted);
            }
            match self.from.recv_timeout(LOOK) {
                Ok(heard) => return self.message(heard),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
            }
        }
    }

    /// The next message if it is already there, for callers that wait for several hosts.
    ///
    /// # Errors
    /// As [`Pending::next`].
    pub fn poll(&mut self) -> Result<Option<Message>, SshError> {
        match self.from.try_recv() {
            Ok(heard) => self.message(heard).map(Some),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(self.gone()),
        }
    }

    /// Waits for the last message and gives it; notes are passed over.
    ///
    /// # Errors
    /// As [`Pending::next`].
    pub fn wait(mut self, stop: &Stop) -> Result<Reply, SshError> {
        loop {
            let message = self.next(stop)?;
            if message.is_last {
                return Ok(message.reply);
            }
        }
    }

    /// Lets a request begin that waits for it.
    pub fn go(&self) {
        self.session.go(self.id);
    }

    /// Asks for an end; the last message still comes.
    pub fn stop(&self) {
        self.session.stop(self.id);
    }

    fn gone(&mut self) -> SshError {
        self.is_over = true;
        self.session.gone()
    }

    fn message(&mut self, heard: Heard) -> Result<Message, SshError> {
        let (reply, is_last) = match heard.what {
            What::Note(reply) => (reply, false),
            What::Done(reply) => (reply, true),
            What::Failed(words) => {
                self.is_over = true;
                return Err(self.session.far(words));
            }
        };
        self.is_over = is_last;
        Ok(Message {
            reply,
            bytes: heard.bytes,
            is_last,
            at: heard.at,
        })
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.session.stop(self.id);
        }
        self.session.forget(self.id);
    }
}
