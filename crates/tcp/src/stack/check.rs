//! What must hold between two calls of a stack, for tests and fuzzing.

use tcplab_base::Instant;

use super::Stack;
use super::table::{Conn, Record};

impl Stack {
    /// Checks every connection's invariants, and that each record's timer is known.
    ///
    /// # Panics
    /// An invariant is broken: a defect of ours, for any input.
    pub fn check(&self) {
        let mut requests = vec![0; self.listeners.len()];
        for (number, record) in self.table.iter() {
            let fires = match record {
                Record::Conn(conn) => self.check_conn(number, conn),
                Record::Packed(packed) => {
                    let conn = self.table.unpacked(packed).expect("something was packed");
                    assert!(conn.ep.is_idle(), "packed and not idle");
                    let next = self.check_conn(number, &conn);
                    assert_eq!(next, self.table.next_of_packed(packed), "a packed timer");
                    next
                }
                Record::Request(req) => {
                    if let Some(n) = requests.get_mut(req.listener as usize) {
                        *n += 1;
                    }
                    Some(req.fires)
                }
                Record::TimeWait(tw) => Some(tw.fires),
                Record::Free(_) => None,
            };
            if let Some(at) = fires {
                let entry = self.deadlines.of(number);
                assert!(
                    entry.is_some_and(|entry| entry <= at),
                    "a timer is not waited for"
                );
            }
        }
        for (listener, n) in self.listeners.iter().zip(requests) {
            if let Some(listener) = listener {
                assert_eq!(listener.requests, n, "requests of a listener");
                assert!(listener.young <= n, "young requests of a listener");
            }
        }
    }

    fn check_conn(&self, number: u32, conn: &Conn) -> Option<Instant> {
        conn.ep.check();
        assert!(
            !conn.hashed || self.table.find(conn.ep.local, conn.ep.remote) == Some(number),
            "a connection is not found by its ends"
        );
        assert_eq!(conn.hashed, !conn.ep.is_closed(), "hashed and closed");
        conn.ep.next_timer()
    }
}
