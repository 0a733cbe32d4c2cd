//! tcp_info of a connection, as outcomes hold it.

use tcplab_tcp::{Cx, Endpoint, SocketError};

/// Names and values in the kernel's units.
pub(crate) type Named = Vec<(&'static str, i64)>;

pub(crate) fn of(_endpoint: &Endpoint, _cx: &Cx<'_>) -> Named {
    Vec::new()
}

pub(crate) fn error(endpoint: &mut Endpoint) -> Option<SocketError> {
    endpoint.take_error()
}
