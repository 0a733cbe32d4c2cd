//! Numbers of the errors that logs show (errno(3), Linux).

/// The number of an errno by its name; 0 for one that no socket call here gives.
pub(crate) fn number(name: &str) -> i64 {
    match name {
        "EAGAIN" => 11,
        "EINVAL" => 22,
        "EPIPE" => 32,
        "ETIME" => 62,
        "EMSGSIZE" => 90,
        "EADDRNOTAVAIL" => 99,
        "ENETUNREACH" => 101,
        "ECONNABORTED" => 103,
        "ECONNRESET" => 104,
        "ENOTCONN" => 107,
        "ETIMEDOUT" => 110,
        "ECONNREFUSED" => 111,
        "EHOSTUNREACH" => 113,
        _ => 0,
    }
}
