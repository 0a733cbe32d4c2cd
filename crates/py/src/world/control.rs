//! A congestion control written in Python, as one of the endpoint's.
//!
//! The world runs without the interpreter's lock and takes it for each call. The first exception ends the run: later
//! calls do nothing, and the caller that runs the world raises it.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use tcplab_tcp::Addr;
use tcplab_tcp::external::{Ack, Algorithm, CaEvent, CaState, Change, Maker, View};

use super::view;

/// The first exception of a callback.
#[derive(Default)]
pub(crate) struct Failure {
    has: AtomicBool,
    /// It is Ctrl-C's.
    is_interrupt: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failure {
    /// A callback has failed.
    pub(crate) fn is_there(&self) -> bool {
        self.has.load(Ordering::Acquire)
    }

    /// The exception was Ctrl-C's.
    pub(crate) fn is_interrupt(&self) -> bool {
        self.is_interrupt.load(Ordering::Acquire)
    }

    pub(crate) fn put(&self, error: PyErr) {
        if !self.is_there() {
            let is = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
            self.is_interrupt.store(is, Ordering::Release);
        }
        if let Ok(mut first) = self.error.lock() {
            first.get_or_insert(error);
        }
        self.has.store(true, Ordering::Release);
    }

    /// The exception, once.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.error.lock().ok().and_then(|mut error| error.take())
    }
}

/// The methods of one; `None` if it lacks a method.
#[derive(Default)]
struct Methods {
    init: Option<Py<PyAny>>,
    on_ack: Option<Py<PyAny>>,
    ssthresh: Option<Py<PyAny>>,
    undo_cwnd: Option<Py<PyAny>>,
    set_state: Option<Py<PyAny>>,
    cwnd_event: Option<Py<PyAny>>,
    pkts_acked: Option<Py<PyAny>>,
}

/// What the facade gives for a connection: the methods in the order of [`Methods`].
type Given = (
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
);

/// One connection's.
struct Control {
    methods: Methods,
    controls_cwnd: bool,
    failure: Arc<Failure>,
}

impl Debug for Control {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a congestion control in Python")
    }
}

/// The maker of those that `make(local_host, local_port, remote_host, remote_port)` gives the methods of.
pub(crate) fn maker(
    (name, needs_ecn, controls_cwnd): (&str, bool, bool),
    make: Py<PyAny>,
    failure: &Arc<Failure>,
) -> Maker {
    let failure = Arc::clone(failure);
    Maker {
        name: name.into(),
        needs_ecn,
        controls_cwnd,
        make: Arc::new(move |local, remote| {
            let methods = match failure.is_there() {
                true => Methods::default(),
                false => methods(&make, local, remote).unwrap_or_else(|error| {
                    failure.put(error);
                    Methods::default()
                }),
            };
            Box::new(Control {
                methods,
                controls_cwnd,
                failure: Arc::clone(&failure),
            })
        }),
    }
}

fn methods(make: &Py<PyAny>, local: Addr, remote: Addr) -> PyResult<Methods> {
    Python::attach(|py| {
        let ends = (local.host, local.port, remote.host, remote.port);
        let given: Given = make.bind(py).call1(ends)?.extract()?;
        let (init, on_ack, ssthresh, undo_cwnd, set_state, cwnd_event, pkts_acked) = given;
        Ok(Methods {
            init,
            on_ack,
            ssthresh,
            undo_cwnd,
            set_state,
            cwnd_event,
            pkts_acked,
        })
    })
}

impl Control {
    /// Calls a method; `None` if it is missing or one has failed.
    fn call<T>(
        &self,
        method: Option<&Py<PyAny>>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let method = method.filter(|_| !self.failure.is_there())?;
        match Python::attach(|py| call(method.bind(py))) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.put(error);
                None
            }
        }
    }

    fn change<'a>(
        &'a self,
        name: &str,
        method: Option<&'a Py<PyAny>>,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Change {
        let change = self.call(method, |method| {
            view::change(name, &call(method)?, self.controls_cwnd)
        });
        change.unwrap_or_default()
    }
}

/// A view as an object.
fn object<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, view::View>> {
    Bound::new(py, view::View::from(view))
}

impl Algorithm for Control {
    fn init(&mut self, view: &View) -> Change {
        self.change("init", self.methods.init.as_ref(), |method| {
            method.call1((object(method.py(), view)?,))
        })
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) -> Change {
        self.change("on_ack", self.methods.on_ack.as_ref(), |method| {
            method.call1((view::ack(method.py(), view, ack)?,))
        })
    }

    fn ssthresh(&mut self, view: &View) -> u32 {
        let packets = self.call(self.methods.ssthresh.as_ref(), |method| {
            let value = method.call1((object(method.py(), view)?,))?;
            view::packets("ssthresh", &value)
        });
        packets.unwrap_or((view.snd_cwnd / 2).max(2))
    }

    fn undo_cwnd(&mut self, view: &View) -> u32 {
        let packets = self.call(self.methods.undo_cwnd.as_ref(), |method| {
            let value = method.call1((object(method.py(), view)?,))?;
            view::packets("undo_cwnd", &value)
        });
        packets.unwrap_or(view.snd_cwnd.max(view.prior_cwnd))
    }

    fn set_state(&mut self, view: &View, next: CaState) -> Change {
        self.change("set_state", self.methods.set_state.as_ref(), |method| {
            method.call1((object(method.py(), view)?, view::state_name(next)))
        })
    }

    fn cwnd_event(&mut self, view: &View, event: CaEvent) -> Change {
        self.change("cwnd_event", self.methods.cwnd_event.as_ref(), |method| {
            method.call1((object(method.py(), view)?, view::event_name(event)))
        })
    }

    fn pkts_acked(&mut self, view: &View, rtt_us: Option<u32>) {
        self.call(self.methods.pkts_acked.as_ref(), |method| {
            method.call1((object(method.py(), view)?, rtt_us)).map(drop)
        });
    }
}
