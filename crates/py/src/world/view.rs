//! What a congestion control in Python sees and gives back.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use tcplab_tcp::external::{self, CaEvent, CaState, MAX_CWND};

/// A connection as its congestion control sees it; see `python/tcplab/_native.pyi`.
#[pyclass(frozen, get_all, subclass, module = "tcplab")]
pub(crate) struct View {
    now_ns: i64,
    snd_cwnd: u32,
    snd_ssthresh: u32,
    snd_cwnd_clamp: u32,
    prior_cwnd: u32,
    is_cwnd_limited: bool,
    mss: u32,
    srtt_us: Option<u32>,
    min_rtt_us: Option<u32>,
    packets_out: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    in_flight: u32,
    delivered: u32,
    delivered_ce: u32,
    lost: u32,
    ca_state: &'static str,
    is_app_limited: bool,
    has_ecn: bool,
    pacing_rate_bytes: Option<u64>,
}

/// The same at an ACK.
#[pyclass(frozen, get_all, extends = View, module = "tcplab")]
pub(crate) struct Ack {
    acked: u32,
    losses: u32,
    rtt_us: Option<u32>,
    rate_delivered: Option<u32>,
    rate_delivered_ce: u32,
    rate_interval_us: Option<u32>,
    prior_delivered: u32,
    prior_in_flight: u32,
    is_rate_app_limited: bool,
    is_retrans: bool,
}

/// What it changes.
#[pyclass(frozen, get_all, module = "tcplab")]
pub(crate) struct Change {
    snd_cwnd: Option<i64>,
    snd_ssthresh: Option<i64>,
    pacing_rate_bytes: Option<i64>,
}

#[pymethods]
impl Change {
    #[new]
    #[pyo3(signature = (snd_cwnd=None, *, snd_ssthresh=None, pacing_rate_bytes=None))]
    fn new(
        snd_cwnd: Option<i64>,
        snd_ssthresh: Option<i64>,
        pacing_rate_bytes: Option<i64>,
    ) -> Self {
        Self {
            snd_cwnd,
            snd_ssthresh,
            pacing_rate_bytes,
        }
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

/// A number of packets that a method returned.
pub(crate) fn packets(method: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    let number: i64 = value.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "{method} returned {value}: it must return a whole number of packets"
        ))
    })?;
    whole(method, number)
}

fn whole(method: &str, number: i64) -> PyResult<u32> {
    let fits = u32::try_from(number).ok();
    let fits = fits.filter(|n| (1..=MAX_CWND).contains(n));
    fits.ok_or_else(|| {
        PyValueError::new_err(format!(
            "{method} returned {number} packets: a window has 1 to {MAX_CWND}"
        ))
    })
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
    let of = |number: Option<i64>| number.map(|n| whole(method, n)).transpose();
    let rate = change.pacing_rate_bytes.map(u64::try_from).transpose();
    let rate = rate.ok().filter(|rate| rate.is_none_or(|n| n > 0));
    let pacing_rate = rate.ok_or_else(|| {
        PyValueError::new_err(format!(
            "{method} returned a pacing rate below 1 byte a second"
        ))
    })?;
    if pacing_rate.is_some() && !paces {
        return Err(PyValueError::new_err(format!(
            "{method} returned a pacing rate: TCP sets it from the window at each ACK; set `controls_cwnd = True` in the class to set both"
        )));
    }
    Ok(external::Change {
        snd_cwnd: of(change.snd_cwnd)?,
        snd_ssthresh: of(change.snd_ssthresh)?,
        pacing_rate,
    })
}
