//! tcp_info of a connection, as outcomes hold it.

use tcplab_tcp::{Cx, Endpoint, SocketError};

/// Names and values in the kernel's units.
pub(crate) type Named = Vec<(&'static str, i64)>;

pub(crate) fn of(endpoint: &Endpoint, cx: &Cx<'_>) -> Named {
    endpoint.info(cx)
}

pub(crate) fn error(endpoint: &mut Endpoint) -> Option<SocketError> {
    endpoint.take_error()
}
