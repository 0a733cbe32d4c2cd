//! The script's descriptors and the target's.

/// What a descriptor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fd {
    /// The socket of this number.
    Socket(usize),
    /// A file, pipe or epoll.
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    script: i32,
    live: i32,
    what: Fd,
    is_closed: bool,
}

/// All descriptors of a run.
#[derive(Default, Debug)]
pub(super) struct Fds(Vec<Entry>);

impl Fds {
    fn find(&self, script: i32) -> Option<&Entry> {
        // The newest one counts.
        self.0
            .iter()
            .rev()
            .find(|e| !e.is_closed && e.script == script)
    }

    /// The live descriptor.
    pub(super) fn live(&self, script: i32) -> Result<i32, String> {
        self.find(script)
            .map(|e| e.live)
            .ok_or_else(|| format!("the script has no open descriptor {script} here"))
    }

    /// The socket of a descriptor.
    pub(super) fn socket(&self, script: i32) -> Option<usize> {
        match self.find(script)?.what {
            Fd::Socket(i) => Some(i),
            Fd::Other => None,
        }
    }

    /// A new descriptor.
    pub(super) fn add(&mut self, script: i32, live: i32, what: Fd) -> Result<(), String> {
        if script < 0 || live < 0 {
            return Err(format!("{script} is not a descriptor"));
        }
        if self.find(script).is_some() {
            return Err(format!(
                "the script already has an open descriptor {script}"
            ));
        }
        self.add_accepted(script, live, what)
    }

    /// A new descriptor from accept(2). The original does not mind when the script has one of this number already: the
    /// new one counts from then on.
    pub(super) fn add_accepted(&mut self, script: i32, live: i32, what: Fd) -> Result<(), String> {
        if script < 0 || live < 0 {
            return Err(format!("{script} is not a descriptor"));
        }
        self.0.push(Entry {
            script,
            live,
            what,
            is_closed: false,
        });
        Ok(())
    }

    /// A descriptor was closed.
    pub(super) fn close(&mut self, script: i32) {
        let open = |e: &&mut Entry| !e.is_closed && e.script == script;
        if let Some(entry) = self.0.iter_mut().rev().find(open) {
            entry.is_closed = true;
        }
    }

    /// What is open still, the newest first: live descriptors.
    pub(super) fn open(&self) -> Vec<i32> {
        let open = self.0.iter().rev().filter(|e| !e.is_closed);
        open.map(|e| e.live).collect()
    }
}
