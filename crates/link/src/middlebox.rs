//! A middle box in front of a way's queue: it changes and drops TCP segments, and injects some of its own.

use std::collections::BTreeMap;

use tcplab_base::Seq;
use tcplab_plan::point::{Direction, Inject, Injected, Rewrite, TcpOption};
use tcplab_wire::{Endpoint, SackBlocks, TcpFlags, TcpOptions, TcpPacket};

use crate::line::Payload;

/// Connections that are remembered for injected segments.
const MAX_FLOWS: usize = 1_000;

/// The rules of one way, and the connections that have passed.
#[derive(Clone, Debug)]
pub(crate) struct Middlebox<F> {
    rules: Vec<Rewrite>,
    /// The connections, where something will be injected.
    flows: Option<Flows<F>>,
    /// The first time at which there was no connection to inject into.
    pub(crate) injected_nothing: Option<Inject>,
}

#[derive(Clone, Debug)]
struct Flows<F> {
    places: BTreeMap<(Endpoint, Endpoint), usize>,
    /// In the order of their first segments.
    each: Vec<Flow<F>>,
}

/// One direction of a connection.
#[derive(Clone, Debug)]
struct Flow<F> {
    /// The last segment.
    last: F,
    /// What the receiver expects when all has come.
    next: Seq,
}

impl<F: Payload> Middlebox<F> {
    /// The middle box of this way, if it has one.
    pub(crate) fn of(way: &Direction) -> Option<Box<Self>> {
        let flows = (!way.injects.is_empty()).then(|| Flows {
            places: BTreeMap::new(),
            each: Vec::new(),
        });
        (flows.is_some() || !way.middlebox.is_empty()).then(|| {
            Box::new(Self {
                rules: way.middlebox.clone(),
                flows,
                injected_nothing: None,
            })
        })
    }

    /// A frame comes by; false: it goes no further.
    pub(crate) fn passes(&mut self, frame: &mut F) -> bool {
        let Some(before) = frame.tcp() else {
            return true;
        };
        let mut packet = before;
        if !self.rules.iter().all(|rule| obey(rule, &mut packet)) {
            return false;
        }
        if packet != before {
            frame.set_tcp(&packet);
        }
        if let Some(flows) = &mut self.flows {
            flows.note(&packet, frame);
        }
        true
    }

    /// The segments that are injected now.
    pub(crate) fn inject(&mut self, inject: &Inject) -> Vec<F> {
        let flows = self.flows.iter().flat_map(|flows| &flows.each);
        let frames: Vec<F> = flows.filter_map(|flow| flow.forge(inject)).collect();
        if frames.is_empty() {
            self.injected_nothing.get_or_insert(*inject);
        }
        frames
    }
}

impl<F: Payload> Flows<F> {
    fn note(&mut self, packet: &TcpPacket, frame: &F) {
        let key = (packet.src, packet.dst);
        let end = packet.seq_end();
        let Some(&place) = self.places.get(&key) else {
            if self.each.len() < MAX_FLOWS {
                self.places.insert(key, self.each.len());
                let last = frame.clone();
                self.each.push(Flow { last, next: end });
            }
            return;
        };
        let flow = &mut self.each[place];
        flow.last = frame.clone();
        let is_new = packet.flags.has(TcpFlags::SYN);
        if is_new || end.after(flow.next) {
            flow.next = end;
        }
    }
}

impl<F: Payload> Flow<F> {
    fn forge(&self, inject: &Inject) -> Option<F> {
        let mut packet = self.last.tcp()?;
        let (flags, payload) = match inject.what {
            Injected::Rst => (TcpFlags::RST, 0),
            Injected::Syn => (TcpFlags::SYN, 0),
            Injected::Ack => (TcpFlags::ACK, 0),
            Injected::Fin => (TcpFlags::ACK | TcpFlags::FIN, 0),
            Injected::Data(bytes) => (TcpFlags::ACK | TcpFlags::PSH, u32::from(bytes)),
        };
        if flags & TcpFlags::ACK != 0 && !packet.flags.has(TcpFlags::ACK) {
            // Only a SYN has passed: there is no number to acknowledge.
            return None;
        }
        packet.seq = self.next + inject.seq as u32;
        packet.ack = match flags & TcpFlags::ACK {
            0 => Seq(0),
            _ => packet.ack + inject.ack as u32,
        };
        packet.flags = TcpFlags(flags);
        packet.payload_len = payload;
        packet.urgent = 0;
        // Time stamps as of the last segment, else the receiver drops it (RFC 7323 5.3).
        packet.options = TcpOptions {
            timestamps: packet
                .options
                .timestamps
                .filter(|_| flags & TcpFlags::ACK != 0),
            ..TcpOptions::default()
        };
        let mut frame = self.last.clone();
        frame.set_tcp(&packet);
        Some(frame)
    }
}

/// What a rule makes of a segment; false: it drops it.
fn obey(rule: &Rewrite, packet: &mut TcpPacket) -> bool {
    let options = &mut packet.options;
    match rule {
        Rewrite::StripOptions(list) => list.iter().for_each(|option| strip(*option, options)),
        Rewrite::SetMss(mss) => options.mss = options.mss.map(|its| its.min(*mss)),
        Rewrite::EcnTcpRemove => {
            packet.flags.0 &= !(TcpFlags::ECE | TcpFlags::CWR | TcpFlags::AE);
        }
        Rewrite::EcnIpEct(bits) => packet.ecn = *bits,
        Rewrite::DropOptions(list) => return !list.iter().any(|option| has(*option, options)),
        Rewrite::DropEcnSyn => {
            let asks = TcpFlags::ECE | TcpFlags::CWR;
            return !(packet.flags.has(TcpFlags::SYN) && packet.flags.0 & asks == asks);
        }
    }
    true
}

fn strip(option: TcpOption, options: &mut TcpOptions) {
    match option {
        TcpOption::Mss => options.mss = None,
        TcpOption::Wscale => options.window_scale = None,
        TcpOption::SackPermitted => options.sack_permitted = false,
        TcpOption::Sack if options.fast_open().is_none() => options.sack = SackBlocks::default(),
        TcpOption::Fastopen => options.set_fast_open(None),
        TcpOption::Timestamp => options.timestamps = None,
        TcpOption::Sack => {}
    }
}

fn has(option: TcpOption, options: &TcpOptions) -> bool {
    match option {
        TcpOption::Mss => options.mss.is_some(),
        TcpOption::Wscale => options.window_scale.is_some(),
        TcpOption::SackPermitted => options.sack_permitted,
        TcpOption::Sack => !options.sack.is_empty(),
        TcpOption::Timestamp => options.timestamps.is_some(),
        TcpOption::Fastopen => options.fast_open().is_some(),
    }
}
