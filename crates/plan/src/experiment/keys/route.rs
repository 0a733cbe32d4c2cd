//! Metrics of a host's routes, in the words of ip-route(8).

use super::record::record;
use super::{Bounds, Form, says};
use crate::contract;
use crate::rules::{MS_NS, MTU, ROUTE_ADVMSS, ROUTE_QUICKACK, ROUTE_WINDOW};

/// Linux keeps `rto_min` in whole milliseconds.
const RTO_MIN: Form = Form::Time(Bounds::Whole(MS_NS, i32::MAX as i64, "milliseconds"));

record! {
    /// Words of `ip route` that are metrics of a route (iproute2 ip-route(8)).
    #[serde(default)]
    pub struct Route, METRICS {
        quickack: Option<u32> = QUICKACK, "quickack", Form::Count(ROUTE_QUICKACK), says("none"), "1: ACK every data segment immediately (RTAX_QUICKACK)", &contract::ROUTE;
        initcwnd: Option<u32> = INITCWND, "initcwnd", Form::Count(ROUTE_WINDOW), says("none"), "initial congestion window, segments", &contract::ROUTE;
        initrwnd: Option<u32> = INITRWND, "initrwnd", Form::Count(ROUTE_WINDOW), says("none"), "initial receive window, segments", &contract::ROUTE;
        rto_min_ns: Option<i64> = RTO_MIN_KEY, "rto_min", RTO_MIN, says("the kernel's"), "minimum RTO, whole milliseconds; locked, as by `ip route`", &contract::ROUTE;
        advmss: Option<u32> = ADVMSS, "advmss", Form::Count(ROUTE_ADVMSS), says("of the MTU"), "MSS in SYNs, bytes", &contract::ROUTE;
        mtu: Option<u32> = MTU_KEY, "mtu", Form::Count(MTU), says("the link's"), "path MTU, bytes", &contract::ROUTE;
        congctl: Option<String> = CONGCTL, "congctl", Form::Congestion, says("the kernel's"), "congestion control over the route", &contract::ROUTE;
    }
}
