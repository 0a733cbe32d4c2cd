//! Why a guest gave no result.

use std::time::Duration;

use tcplab_os::OsError;

/// What went wrong, with the end of the guest's console where there is one.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The operating system refused something.
    #[error(transparent)]
    Os(#[from] OsError),
    /// The run itself failed, in its own words.
    #[error("{0}")]
    Run(String),
    /// It took too long and was ended.
    #[error("the guest gave no result and was stopped after {} s{}", after.as_secs(), console_end(console))]
    TooLong {
        /// The limit.
        after: Duration,
        /// The end of its console.
        console: String,
    },
    /// It ended without a result: a kernel panic, or no kernel at all.
    #[error("the guest ended without a result ({status}){}", console_end(console))]
    Died {
        /// How it ended.
        status: String,
        /// The end of its console.
        console: String,
    },
    /// The wish to stop came first.
    #[error("interrupted")]
    Interrupted,
}

fn console_end(console: &str) -> String {
    match console.trim() {
        "" => "; the console is empty".into(),
        text => format!("; the end of its console:\n{text}{}", way_out(text)),
    }
}

/// What to do about words of a console that say a known thing.
fn way_out(console: &str) -> &'static str {
    // arch/um/os-Linux/skas/process.c, before 6.13.
    match console.contains("ptrace set fp regs failed") {
        true => {
            "\nthis CPU's register state is larger than the kernel supports: rebuild the kernel with this tcplab (`tcplab kernel build`; docs/kernels.md, large-xstate)"
        }
        false => "",
    }
}
