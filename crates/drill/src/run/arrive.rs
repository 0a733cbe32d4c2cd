//! A packet that arrives at the host: mapped to live numbers and given to the target.

use super::socket::State;
use super::time::Due;
use super::{Runner, Stop, What, cannot, fail};
use crate::packet::{Packet, Shown, build, flag, line, protocol};
use crate::script::{Direction, PacketSpec};
use crate::target::Target;

impl<T: Target + ?Sized> Runner<'_, T> {
    pub(super) fn arrive(&mut self, spec: &PacketSpec, due: &Due) -> Result<(), Stop> {
        let network = &self.settings.network;
        let packet = build(spec, network.mode).map_err(|why| fail(spec.place, why))?;
        let number = self.socket_for(&packet, Direction::In, spec.place)?;
        self.wait_for(due, "packet")?;
        self.follow_handshake(number, &packet);
        let shown = Shown {
            spec: Some(spec),
            is_script: false,
            direction: Direction::In,
        };
        let text = line(&packet, shown);
        let mut live = packet;
        let is_scaled = self.settings.ts_ecr_scaled;
        if let Some(socket) = self.sockets.get_mut(number) {
            socket
                .map_in(&mut live, is_scaled)
                .map_err(|why| fail(spec.place, why))?;
            if let Some(tcp) = live.tcp() {
                socket.last_in = Some((tcp.clone(), live.payload_len));
            }
        }
        let bytes = live.emit();
        let result = self.target.inject(&bytes);
        let now = self.target.now();
        self.note(
            now,
            due.place.line,
            What::packet(Direction::In, &bytes, text),
        );
        result.map_err(|e| cannot(spec.place, e))
    }

    /// What the packet means for the socket.
    fn follow_handshake(&mut self, number: usize, packet: &Packet) {
        let settings = self.settings;
        let Some(socket) = self.sockets.get_mut(number) else {
            return;
        };
        match (socket.state, packet.tcp()) {
            (State::SynAckSent, Some(tcp)) if tcp.flags & flag::ACK != 0 => {
                socket.state = State::SynAckAcked;
            }
            (State::SynSent, Some(tcp)) if tcp.is_syn_ack() => {
                socket.state = State::SynAcked;
                socket.script.remote.isn = tcp.seq;
                socket.live.remote.isn = tcp.seq;
            }
            // A datagram to a socket that is bound and not connected comes from where the script's packets come.
            (state, None)
                if packet.protocol() != protocol::TCP
                    && (settings.is_anyip
                        || (state == State::New && packet.protocol() == protocol::UDP)) =>
            {
                let (local, remote) = (&mut socket.live.local.addr, &mut socket.live.remote.addr);
                local.set_ip(settings.network.local);
                remote.set_ip(settings.network.remote);
                if local.port() == 0 {
                    local.set_port(settings.bind_port);
                }
                if remote.port() == 0 {
                    remote.set_port(settings.connect_port);
                }
            }
            _ => {}
        }
    }
}
