//! `client_change`, `server_change`: options of sockets that are set during the run.

use super::error::Fault;
use super::fields::Fields;
use super::keys::{Key, SOCKET, apps as keys};
use crate::point::{SocketChange, SocketOptions};
use crate::rules::MAX_OUTAGES;

/// Both lists of an application, in the order of the times.
pub(super) fn changes(fields: &Fields<'_>, is_tcp: bool) -> Result<Vec<SocketChange>, Fault> {
    let mut all = Vec::new();
    for (key, of_clients) in [(&keys::CLIENT_CHANGE, true), (&keys::SERVER_CHANGE, false)] {
        if let (Some(node), false) = (fields.node(key), is_tcp) {
            let message = "needs an application of TCP: datagrams keep their options";
            return Err(fields.fault(key, node, message));
        }
        for table in fields.tables(key.name, MAX_OUTAGES)? {
            all.push(one(&table, key, of_clients)?);
        }
    }
    all.sort_by_key(|change| change.at_ns);
    Ok(all)
}

fn one(table: &Fields<'_>, key: &Key, of_clients: bool) -> Result<SocketChange, Fault> {
    table.check(&[&[keys::AT], SOCKET])?;
    let at_ns = table.find(&keys::AT)?;
    let change = SocketChange {
        at_ns: at_ns.ok_or_else(|| table.missing(&keys::AT))?,
        of_clients,
        options: SocketOptions::read(table)?,
    };
    match change.unchangeable() {
        Some(why) => {
            let message = format!("{}: {why}", key.name);
            Err(Fault::new(&table.span, &table.path, message))
        }
        None => Ok(change),
    }
}
