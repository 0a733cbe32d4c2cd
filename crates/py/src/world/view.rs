//! What a congestion control in Python sees and gives back.

use std::fmt::Display;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use tcplab_tcp::external::{self, CaEvent, CaState, MAX_CWND};

/// A connection as seen by its congestion control. Windows and counts are in packets; names are Linux's.
#[pyclass(frozen, get_all, subclass, module = "tcplab")]
pub(crate) struct View {
    /// The time of the run in nanoseconds.
    now_ns: i64,
    /// The congestion window.
    snd_cwnd: u32,
    /// The slow start threshold; 2^31 - 1: not set yet.
    snd_ssthresh: u32,
    /// The window never exceeds this.
    snd_cwnd_clamp: u32,
    /// The window before the last reduction.
    prior_cwnd: u32,
    /// Whether the window may grow: it was full. In slow start, more than half full is enough (``tcp_is_cwnd_limited()``).
    is_cwnd_limited: bool,
    /// Payload of a full segment in bytes.
    mss: u32,
    /// The smoothed RTT in microseconds; None: no sample yet.
    srtt_us: Option<u32>,
    /// The smallest recent RTT, in microseconds (``tcp_min_rtt()``); None: no sample yet.
    min_rtt_us: Option<u32>,
    /// Packets sent and not cumulatively ACKed.
    packets_out: u32,
    /// Packets of ``packets_out`` that were SACKed.
    sacked_out: u32,
    /// Packets of ``packets_out`` that are marked lost.
    lost_out: u32,
    /// Retransmissions in flight.
    retrans_out: u32,
    /// ``tcp_packets_in_flight()``.
    in_flight: u32,
    /// Packets delivered since the connection's start, modulo 2^32.
    delivered: u32,
    /// Packets delivered with a CE mark since the connection's start, modulo 2^32.
    delivered_ce: u32,
    /// Packets marked lost since the connection's start, modulo 2^32.
    lost: u32,
    /// The state of recovery: ``Open``, ``Disorder``, ``CWR``, ``Recovery``, ``Loss``.
    ca_state: &'static str,
    /// Whether the application sends less than the window allows.
    is_app_limited: bool,
    /// Whether both ends agreed on ECN (RFC 3168).
    has_ecn: bool,
    /// The pacing rate in bytes a second; None: not set yet.
    pacing_rate_bytes: Option<u64>,
}

/// The connection at an ACK, and the ACK's rate sample (``struct rate_sample``).
#[pyclass(frozen, get_all, extends = View, module = "tcplab")]
pub(crate) struct Ack {
    /// Packets that this ACK delivered, including SACKed ones.
    acked: u32,
    /// Packets that were marked lost at this ACK.
    losses: u32,
    /// The ACK's RTT in microseconds; None: no sample.
    rtt_us: Option<u32>,
    /// Packets delivered over ``rate_interval_us``; None: no sample.
    rate_delivered: Option<u32>,
    /// Packets of ``rate_delivered`` with a CE mark.
    rate_delivered_ce: u32,
    /// Time that ``rate_delivered`` packets took to be sent or to be ACKed, whichever is longer, in microseconds; None: no sample.
    rate_interval_us: Option<u32>,
    /// The value of ``delivered`` when the last packet of the rate sample was sent.
    prior_delivered: u32,
    /// Packets in flight before this ACK.
    prior_in_flight: u32,
    /// Whether the application limited the sending during the rate sample.
    is_rate_app_limited: bool,
    /// Whether the rate sample is from a retransmission.
    is_retrans: bool,
}

/// Changes that a congestion control makes. A value that is None stays as it is.
///
/// Parameters
/// ----------
/// snd_cwnd
///     The window in packets, 1 to 2^30.
/// snd_ssthresh
///     The slow start threshold in packets.
/// pacing_rate_bytes
///     The pacing rate in bytes a second; only with ``controls_cwnd``.
#[pyclass(frozen, get_all, module = "tcplab")]
pub(crate) struct Change {
    /// The window in packets.
    snd_cwnd: Option<u32>,
    /// The slow start threshold in packets.
    snd_ssthresh: Option<u32>,
    /// The pacing rate in bytes a second.
    pacing_rate_bytes: Option<u64>,
}

#[pymethods]
impl Change {
    #[new]
    #[pyo3(signature = (snd_cwnd=None, *, snd_ssthresh=None, pacing_rate_bytes=None))]
    fn new(
        snd_cwnd: Option<&Bound<'_, PyAny>>,
        snd_ssthresh: Option<&Bound<'_, PyAny>>,
        pacing_rate_bytes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let window = |name, value: Option<&Bound<'_, PyAny>>| {
            let number = value.map(|value| number(name, value, i64::from(MAX_CWND), "packets"));
            PyResult::Ok(number.transpose()?.map(|n| n as u32))
        };
        let rate = pacing_rate_bytes
            .map(|value| number("pacing_rate_bytes", value, i64::MAX, "bytes a second"));
        Ok(Self {
            snd_cwnd: window("snd_cwnd", snd_cwnd)?,
            snd_ssthresh: window("snd_ssthresh", snd_ssthresh)?,
            pacing_rate_bytes: rate.transpose()?.map(|n| n as u64),
        })
    }

    fn __repr__(&self) -> String {
        let one = |name, value: Option<u64>| value.map(|n| format!("{name}={n}"));
        let all = [
            one("snd_cwnd", self.snd_cwnd.map(u64::from)),
            one("snd_ssthresh", self.snd_ssthresh.map(u64::from)),
            one("pacing_rate_bytes", self.pacing_rate_bytes),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        format!("Change({})", all.join(", "))
    }
}

impl From<&external::View> for View {
    fn from(view: &external::View) -> Self {
        Self {
            now_ns: view.now.as_nanos(),
            snd_cwnd: view.snd_cwnd,
            snd_ssthresh: view.snd_ssthresh,
            snd_cwnd_clamp: view.snd_cwnd_clamp,
            prior_cwnd: view.prior_cwnd,
            is_cwnd_limited: view.is_cwnd_limited,
            mss: view.mss,
            srtt_us: Some(view.srtt_us).filter(|&us| us > 0),
            min_rtt_us: Some(view.min_rtt_us).filter(|&us| us < u32::MAX),
            packets_out: view.packets_out,
            sacked_out: view.sacked_out,
            lost_out: view.lost_out,
            retrans_out: view.retrans_out,
            in_flight: view.in_flight,
            delivered: view.delivered,
            delivered_ce: view.delivered_ce,
            lost: view.lost,
            ca_state: state_name(view.ca_state),
            is_app_limited: view.is_app_limited,
            has_ecn: view.has_ecn,
            pacing_rate_bytes: Some(view.pacing_rate).filter(|&rate| rate < u64::MAX),
        }
    }
}

/// An ACK as an object.
pub(crate) fn ack(py: Python<'_>, view: &external::View, ack: &external::Ack) -> PyResult<Py<Ack>> {
    let own = Ack {
        acked: ack.acked,
        losses: ack.losses,
        rtt_us: ack.rtt_us,
        rate_delivered: ack.delivered,
        rate_delivered_ce: ack.delivered_ce,
        rate_interval_us: ack.interval_us,
        prior_delivered: ack.prior_delivered,
        prior_in_flight: ack.prior_in_flight,
        is_rate_app_limited: ack.is_app_limited,
        is_retrans: ack.is_retrans,
    };
    let all = PyClassInitializer::from(View::from(view)).add_subclass(own);
    Py::new(py, all)
}

/// A state by the kernel's name, without `TCP_CA_`.
pub(crate) fn state_name(state: CaState) -> &'static str {
    match state {
        CaState::Open => "Open",
        CaState::Disorder => "Disorder",
        CaState::Cwr => "CWR",
        CaState::Recovery => "Recovery",
        CaState::Loss => "Loss",
    }
}

/// An event by the kernel's name, without `CA_EVENT_`.
pub(crate) fn event_name(event: CaEvent) -> &'static str {
    match event {
        CaEvent::TxStart => "TX_START",
        CaEvent::CwndRestart => "CWND_RESTART",
        CaEvent::CompleteCwr => "COMPLETE_CWR",
        CaEvent::Loss => "LOSS",
        CaEvent::EcnNoCe => "ECN_NO_CE",
        CaEvent::EcnIsCe => "ECN_IS_CE",
    }
}

/// A number of a [`Change`], from 1 to `most`.
fn number(name: &str, value: &Bound<'_, PyAny>, most: i64, unit: &str) -> PyResult<i64> {
    if value.is_instance_of::<PyBool>() || !value.hasattr("__index__")? {
        let message = format!(
            "{name} must be a whole number of {unit}, not {}",
            value.repr()?
        );
        return Err(PyTypeError::new_err(message));
    }
    let number: Option<i64> = value.extract().ok();
    number.filter(|n| (1..=most).contains(n)).ok_or_else(|| {
        PyValueError::new_err(format!("{name}={value}: it must be 1 to {most} {unit}"))
    })
}

/// A number of packets that a method returned.
pub(crate) fn packets(method: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "{method} returned {value}: it must return a whole number of packets"
        ))
    };
    // True is 1 to Python, and a slip here.
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    let number: Result<i64, PyErr> = value.extract();
    match number {
        Ok(number) => whole(method, number),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            Err(beyond(method, value))
        }
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(wrong()),
        Err(error) => Err(error),
    }
}

fn whole(method: &str, number: i64) -> PyResult<u32> {
    let fits = u32::try_from(number).ok();
    let fits = fits.filter(|n| (1..=MAX_CWND).contains(n));
    fits.ok_or_else(|| beyond(method, number))
}

fn beyond(method: &str, number: impl Display) -> PyErr {
    PyValueError::new_err(format!(
        "{method} returned {number} packets: a window has 1 to {MAX_CWND}"
    ))
}

/// What a method returned: nothing, a window, or a [`Change`]. `paces`: it may set the pacing rate.
pub(crate) fn change(
    method: &str,
    value: &Bound<'_, PyAny>,
    paces: bool,
) -> PyResult<external::Change> {
    if value.is_none() {
        return Ok(external::Change::default());
    }
    let Ok(change) = value.cast::<Change>() else {
        let snd_cwnd = Some(packets(method, value)?);
        return Ok(external::Change {
            snd_cwnd,
            ..external::Change::default()
        });
    };
    let change = change.get();
    if change.pacing_rate_bytes.is_some() && !paces {
        return Err(PyValueError::new_err(format!(
            "{method} returned a pacing rate: TCP sets it from the window at each ACK; set `controls_cwnd = True` in the class to set both"
        )));
    }
    Ok(external::Change {
        snd_cwnd: change.snd_cwnd,
        snd_ssthresh: change.snd_ssthresh,
        pacing_rate: change.pacing_rate_bytes,
    })
}
