//! The simulator step by step, for Python: `tcplab.World`.
//!
//! A world runs without the interpreter's lock; only callbacks of a congestion control and a look for Ctrl-C take it.

mod control;
mod make;
mod view;

use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tcplab_base::Instant;

use self::control::Failure;
use self::make::Captured;
pub(crate) use self::view::{Ack, Change, View};

/// Asked questions between two looks for Ctrl-C.
const SIGNALS_EVERY: u32 = 1 << 12;

/// A flow: its application and its hosts, by name.
type Flow = (String, String, String);

/// A simulated experiment; see `python/tcplab/_native.pyi`.
#[pyclass(frozen, module = "tcplab")]
pub(crate) struct World {
    /// None: its outcome was taken.
    world: Mutex<Option<tcplab_sim::World>>,
    captured: Vec<Captured>,
    failure: Arc<Failure>,
    /// Warnings that are known before the run.
    warnings: Vec<String>,
    hosts: Vec<String>,
    links: Vec<(String, String)>,
    flows: Vec<Flow>,
}

impl World {
    /// Something with the world, which nobody else uses meanwhile.
    fn with<T>(&self, what: impl FnOnce(&mut tcplab_sim::World) -> T) -> PyResult<T> {
        let Ok(mut world) = self.world.try_lock() else {
            return Err(PyRuntimeError::new_err(
                "the world is running: ask it between its steps, not in a callback nor from another thread",
            ));
        };
        match &mut *world {
            Some(world) => Ok(what(world)),
            None => Err(PyRuntimeError::new_err(
                "the run's outcome was taken: nothing is left of the world",
            )),
        }
    }
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (file, text, stack, *, set, variant))]
    fn new(
        py: Python<'_>,
        file: &str,
        text: &str,
        stack: &str,
        set: Vec<String>,
        variant: Option<&str>,
    ) -> PyResult<Self> {
        let (point, mut warnings) = make::point(py, (file, text), &set, variant)?;
        let (world, captured) = make::world(py, file, &point, stack)?;
        warnings.extend(make::shortcomings(py, stack, &point)?);
        let hosts: Vec<String> = point.hosts.iter().map(|host| host.name.clone()).collect();
        let links = point.links.iter();
        let apps = point.apps.iter();
        let of = |app: &tcplab_plan::app::App| {
            let names = [app.client, app.server].map(|host| hosts[host].clone());
            let [client, server] = names;
            let flow = (app.name.clone(), client, server);
            vec![flow; app.connections as usize]
        };
        Ok(Self {
            world: Mutex::new(Some(world)),
            captured,
            failure: Arc::default(),
            warnings,
            links: links
                .map(|link| (hosts[link.a].clone(), hosts[link.b].clone()))
                .collect(),
            flows: apps.flat_map(of).collect(),
            hosts,
        })
    }

    #[getter]
    fn hosts(&self) -> Vec<String> {
        self.hosts.clone()
    }

    #[getter]
    fn links(&self) -> Vec<(String, String)> {
        self.links.clone()
    }

    #[getter]
    fn flows(&self) -> Vec<Flow> {
        self.flows.clone()
    }

    /// Warnings before the run, then those of the run so far.
    #[getter]
    fn warnings(&self) -> PyResult<Vec<String>> {
        let run = self.with(|world| world.warnings())?;
        Ok(self.warnings.iter().cloned().chain(run).collect())
    }

    #[getter]
    fn now_ns(&self) -> PyResult<i64> {
        self.with(|world| world.now().as_nanos())
    }

    #[getter]
    fn next_ns(&self) -> PyResult<Option<i64>> {
        self.with(|world| world.next_time().map(Instant::as_nanos))
    }

    #[getter]
    fn is_over(&self) -> PyResult<bool> {
        self.with(|world| world.is_over())
    }

    #[pyo3(signature = (host, make, *, name, needs_ecn, controls_cwnd))]
    fn set_congestion(
        &self,
        py: Python<'_>,
        host: usize,
        make: Py<PyAny>,
        name: &str,
        needs_ecn: bool,
        controls_cwnd: bool,
    ) -> PyResult<()> {
        let flags = (name, needs_ecn, controls_cwnd);
        let maker = control::maker(flags, make, &self.failure);
        let set = self.with(|world| world.set_congestion(host, maker))?;
        set.map_err(|e| make::error(py, "UsageError", e.to_string()))
    }

    /// A time of an experiment in nanoseconds.
    #[staticmethod]
    fn nanoseconds(py: Python<'_>, text: &str) -> PyResult<u64> {
        let time = tcplab_base::quantity::TIME.parse(text);
        time.map_err(|why| make::error(py, "UsageError", why))
    }

    /// Runs until a time. False: the run is over.
    fn run_until(&self, py: Python<'_>, until_ns: i64) -> PyResult<bool> {
        if self.failure.is_there() {
            let why = match self.failure.is_interrupt() {
                true => "the run was interrupted (Ctrl-C) in a call of the congestion control",
                false => "a callback of the congestion control failed",
            };
            let message = format!("{why}: the run cannot go on");
            return Err(PyRuntimeError::new_err(message));
        }
        let until = Instant::from_nanos(until_ns);
        let mut signal = Ok(());
        let mut asked = 0;
        let went = py.detach(|| {
            self.with(|world| {
                let goes_on = world.run_until(until, || {
                    asked += 1;
                    if asked % SIGNALS_EVERY == 0 || asked == 1 {
                        signal = Python::attach(|py| py.check_signals());
                    }
                    signal.is_ok() && !self.failure.is_there()
                });
                (goes_on, world.exhausted().map(str::to_owned))
            })
        });
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        signal?;
        match went? {
            (_, Some(why)) => Err(make::error(py, "Inconclusive", why)),
            (goes_on, None) => Ok(goes_on),
        }
    }

    fn info<'py>(
        &self,
        py: Python<'py>,
        flow: usize,
        is_client: bool,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(fields) = self.with(|world| world.tcp_info(flow, is_client))? else {
            return Ok(None);
        };
        let out = PyDict::new(py);
        for (name, value) in fields {
            out.set_item(name, value)?;
        }
        Ok(Some(out))
    }

    fn congestion(&self, flow: usize, is_client: bool) -> PyResult<Option<String>> {
        self.with(|world| world.congestion_name(flow, is_client))
    }

    fn read_written(&self, flow: usize, is_client: bool) -> PyResult<(u64, u64)> {
        self.with(|world| world.bytes(flow, is_client).unwrap_or_default())
    }

    /// The numbers and ports of a connection's ends: its own, the peer's.
    fn ends(&self, flow: usize, is_client: bool) -> PyResult<Option<(u16, u16, u16, u16)>> {
        let ends = self.with(|world| world.addresses(flow, is_client))?;
        Ok(ends.map(|(own, peer)| (own.host, own.port, peer.host, peer.port)))
    }

    /// When an end was opened and closed, and the error that ended it.
    fn ended(
        &self,
        flow: usize,
        is_client: bool,
    ) -> PyResult<(Option<i64>, Option<i64>, Option<String>)> {
        self.with(|world| {
            let ended = world.ended(flow, is_client).unwrap_or_default();
            let error = ended.error.map(str::to_owned);
            (ended.opened_ns, ended.closed_ns, error)
        })
    }

    fn counters<'py>(&self, py: Python<'py>, host: usize) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, value) in self.with(|world| world.counters(host))? {
            out.set_item(name, value)?;
        }
        Ok(out)
    }

    /// Packets and bytes in a link's queue, and bytes that came out of the link.
    fn queue(&self, link: usize, way: usize) -> PyResult<(i64, i64, i64)> {
        let held = self.with(|world| world.queue(link, way).unwrap_or_default())?;
        Ok((held.queue_pkts, held.queue_bytes, held.delivered_bytes))
    }

    /// The captures so far: host, interface, the bytes of a pcapng file.
    fn captures<'py>(&self, py: Python<'py>) -> Vec<(String, String, Bound<'py, PyBytes>)> {
        let all = self.captured.iter().map(|one| {
            let bytes = PyBytes::new(py, &one.file.bytes());
            (one.host.clone(), one.interface.clone(), bytes)
        });
        all.collect()
    }

    /// All that came out, as JSON. Nothing is left of the world.
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(|_| ())?;
        let world = self
            .world
            .try_lock()
            .ok()
            .and_then(|mut world| world.take());
        let outcome = world.map(tcplab_sim::World::into_outcome);
        let text = serde_json::to_vec(&outcome).unwrap_or_default();
        Ok(PyBytes::new(py, &text))
    }
}
