//! The classes of time, and sums over them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// What time went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// From the first SYN to the ACK of the SYN-ACK.
    Handshake,
    /// Whole answer received, next request not sent.
    ClientThinks,
    /// Whole request received, answer not begun.
    ServerThinks,
    /// Packets were on their way: delay and rate of the path.
    #[default]
    Path,
    /// The congestion window was full.
    CongestionWindow,
    /// The sender paced its packets.
    Pacing,
    /// The receive window was full, but not zero.
    ReceiveWindow,
    /// Nothing to send in the middle of a message: the application or send buffer.
    Sender,
    /// The sender waited for a delayed ACK.
    DelayedAck,
    /// Nagle's algorithm held back a small segment.
    Nagle,
    /// Recovery by duplicate ACKs or SACK.
    FastRecovery,
    /// Recovery by a tail loss probe, or by the timeout of a single segment in flight.
    Tlp,
    /// Wait for a retransmission timeout, and recovery from it.
    Rto,
    /// A retransmission timeout or recovery without a loss.
    Spurious,
    /// The receive window was zero.
    ZeroWindow,
    /// After the first FIN.
    Closing,
    /// Nobody waited for anything.
    Idle,
    /// The packets do not show the cause.
    Unknown,
}

impl Class {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 18] = [
        Self::Handshake,
        Self::ClientThinks,
        Self::ServerThinks,
        Self::Path,
        Self::CongestionWindow,
        Self::Pacing,
        Self::ReceiveWindow,
        Self::Sender,
        Self::DelayedAck,
        Self::Nagle,
        Self::FastRecovery,
        Self::Tlp,
        Self::Rto,
        Self::Spurious,
        Self::ZeroWindow,
        Self::Closing,
        Self::Idle,
        Self::Unknown,
    ];

    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::ClientThinks => "client_thinks",
            Self::ServerThinks => "server_thinks",
            Self::Path => "path",
            Self::CongestionWindow => "congestion_window",
            Self::Pacing => "pacing",
            Self::ReceiveWindow => "receive_window",
            Self::Sender => "sender",
            Self::DelayedAck => "delayed_ack",
            Self::Nagle => "nagle",
            Self::FastRecovery => "fast_recovery",
            Self::Tlp => "tlp",
            Self::Rto => "rto",
            Self::Spurious => "spurious",
            Self::ZeroWindow => "zero_window",
            Self::Closing => "closing",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }

    /// Its name in text.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::ClientThinks => "client thinks",
            Self::ServerThinks => "server thinks",
            Self::Path => "path",
            Self::CongestionWindow => "congestion window",
            Self::Pacing => "pacing",
            Self::ReceiveWindow => "receive window",
            Self::Sender => "sender's program or buffer",
            Self::DelayedAck => "delayed ACK",
            Self::Nagle => "Nagle",
            Self::FastRecovery => "fast recovery",
            Self::Tlp => "probe or timeout",
            Self::Rto => "retransmission timeout",
            Self::Spurious => "spurious retransmission",
            Self::ZeroWindow => "zero window",
            Self::Closing => "closing",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }

    /// What it means, for the schema.
    const fn means(self) -> &'static str {
        match self {
            Self::Handshake => "From the first SYN to the ACK of the SYN-ACK.",
            Self::ClientThinks => "Whole answer received, next request not sent.",
            Self::ServerThinks => "Whole request received, answer not begun.",
            Self::Path => "Packets were on their way: delay and rate of the path.",
            Self::CongestionWindow => "The congestion window was full.",
            Self::Pacing => "The sender paced its packets.",
            Self::ReceiveWindow => "The receive window was full, but not zero.",
            Self::Sender => {
                "Nothing to send in the middle of a message: the application or send buffer."
            }
            Self::DelayedAck => "The sender waited for a delayed ACK.",
            Self::Nagle => "Nagle's algorithm held back a small segment.",
            Self::FastRecovery => "Recovery by duplicate ACKs or SACK.",
            Self::Tlp => {
                "Recovery by a tail loss probe, or by the timeout of a single segment in flight: both are due at the same time."
            }
            Self::Rto => "Wait for a retransmission timeout, and recovery from it.",
            Self::Spurious => "A retransmission timeout or recovery without a loss.",
            Self::ZeroWindow => "The receive window was zero.",
            Self::Closing => "After the first FIN.",
            Self::Idle => "Nobody waited for anything.",
            Self::Unknown => "The packets do not show the cause.",
        }
    }
}

/// Microseconds of each class. JSON names only those that are not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget([u64; Class::ALL.len()]);

impl Budget {
    /// Microseconds of a class.
    pub fn of(&self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// Adds to a class.
    pub fn add(&mut self, class: Class, us: u64) {
        self.0[class as usize] += us;
    }

    /// Adds all of another one.
    pub fn add_all(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }

    /// Takes from a class, at most as much as there is.
    pub(crate) fn less(&mut self, class: Class, us: u64) {
        let part = &mut self.0[class as usize];
        *part = part.saturating_sub(us);
    }

    /// Moves time from one class to another one, at most as much as there is.
    pub(crate) fn turn(&mut self, was: Class, is: Class, us: u64) {
        let us = us.min(self.of(was));
        self.0[was as usize] -= us;
        self.add(is, us);
    }

    /// All of it, microseconds.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|us| *us == 0)
    }

    /// The classes that are not 0, in their order.
    pub fn parts(&self) -> impl Iterator<Item = (Class, u64)> {
        let all = Class::ALL.into_iter().zip(self.0);
        all.filter(|part| part.1 > 0)
    }
}

impl Serialize for Budget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_struct("Budget", Class::ALL.len())?;
        // One by one, so that each name is a constant for the compiler: every stream and request has some.
        macro_rules! each {
            ($($class:ident)*) => {$(
                let us = self.of(Class::$class);
                if us > 0 {
                    parts.serialize_field(Class::$class.name(), &us)?;
                }
            )*};
        }
        each! {
            Handshake ClientThinks ServerThinks Path CongestionWindow Pacing ReceiveWindow Sender DelayedAck
            Nagle FastRecovery Tlp Rto Spurious ZeroWindow Closing Idle Unknown
        }
        parts.end()
    }
}

impl JsonSchema for Budget {
    fn schema_name() -> Cow<'static, str> {
        "Budget".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = json_schema!({
            "type": "object",
            "additionalProperties": false,
            "description": "Microseconds of each class of time; absent if 0.",
        });
        let mut parts = json_schema!({});
        for class in Class::ALL {
            let mut part = u64::json_schema(generator);
            part.insert("description".to_owned(), class.means().into());
            parts.insert(class.name().to_owned(), part.to_value());
        }
        schema.insert("properties".to_owned(), parts.to_value());
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_every_class_under_its_name() {
        let mut all = Budget::default();
        let classes = Class::ALL.into_iter().zip(1..);
        classes.clone().for_each(|(class, us)| all.add(class, us));
        let json = serde_json::to_value(all).expect("plain data");
        let named = classes.map(|(class, us)| (class.name().to_owned(), us.into()));
        let named = serde_json::Value::Object(named.collect());
        assert_eq!(json, named);
        assert_eq!(
            serde_json::to_string(&Budget::default()).expect("plain data"),
            "{}"
        );
    }
}
