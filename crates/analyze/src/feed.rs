//! Feeds frames to the analyser, and hands its output to the caller.

use std::io::Read;

use tcplab_base::Instant;
use tcplab_capture::{Body, Error, Reader, Record};
use tcplab_wire::{Config, IcmpError, LinkType, NotTcp, Parsed, Reassembler, Standing};

use crate::{Analyzer, Output};

/// From frames to TCP packets, with what is needed to put fragments together.
#[derive(Debug)]
pub struct Parser {
    config: Config,
    fragments: Reassembler,
    parsed: Parsed,
}

impl Parser {
    /// One that reads frames so.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            fragments: Reassembler::default(),
            parsed: Parsed::NotTcp(NotTcp::NotIp),
        }
    }

    /// Reads a frame.
    #[inline(always)]
    pub fn frame(&mut self, link: LinkType, data: &[u8], orig_len: u32) -> &Parsed {
        let Self {
            config,
            fragments,
            parsed,
        } = self;
        fragments.parse_into(link, data, orig_len, config, parsed);
        parsed
    }

    /// Reads a record of a file.
    #[inline(always)]
    pub fn record(&mut self, record: &Record<'_>) -> &Parsed {
        match record.body {
            Body::Frame {
                link,
                data,
                orig_len,
            } => return self.frame(link, data, orig_len),
            Body::Tcp(packet) => self.parsed = Parsed::Tcp(*packet),
            Body::Other => self.parsed = Parsed::NotTcp(NotTcp::NotIp),
        }
        &self.parsed
    }

    /// The ICMP error that the last frame was, if it quotes a TCP packet.
    #[cold]
    fn icmp_error(&self) -> Option<&IcmpError> {
        self.fragments.icmp_error()
    }
}

impl Analyzer {
    /// Takes what the parser read last: its number in the file, its time stamp.
    #[inline(always)]
    pub fn feed(&mut self, number: u64, time: Option<Instant>, parser: &Parser) {
        let may_be_icmp = match &parser.parsed {
            Parsed::Tcp(packet) => {
                self.packet(number, time, packet);
                if packet.encap.fragments != 0 {
                    self.joined(parser.fragments.joined());
                }
                packet.standing == Standing::Quoted
            }
            Parsed::NotTcp(why) => {
                self.other(*why);
                self.joined(parser.fragments.joined());
                *why == NotTcp::TcpStub
            }
        };
        if may_be_icmp && let Some(error) = parser.icmp_error() {
            self.icmp(number, error);
        }
    }

    /// Hands out what is finished.
    ///
    /// # Errors
    /// That of `take`.
    #[inline]
    pub fn drain<E>(&mut self, mut take: impl FnMut(Output) -> Result<(), E>) -> Result<(), E> {
        while let Some(output) = self.poll() {
            take(output)?;
        }
        Ok(())
    }

    /// Reads a capture to its end, or to where it is damaged, which it gives; all that was read is handed out.
    ///
    /// # Errors
    /// That of `take`.
    pub fn read<R: Read, E>(
        &mut self,
        reader: Result<Reader<R>, Error>,
        mut parser: Parser,
        mut take: impl FnMut(Output) -> Result<(), E>,
    ) -> Result<Option<Error>, E> {
        let damage = match reader {
            Ok(mut reader) => loop {
                match reader.next() {
                    Ok(Some(record)) => {
                        parser.record(&record);
                        self.feed(record.number, record.time, &parser);
                    }
                    Ok(None) => break None,
                    Err(e) => break Some(e),
                }
                self.drain(&mut take)?;
            },
            Err(e) => Some(e),
        };
        self.finish();
        self.drain(take)?;
        Ok(damage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    /// The piece of a 32-byte IPv4 packet of this protocol that begins at `from`, 16 bytes long.
    fn piece(protocol: u8, id: u8, from: u8) -> Vec<u8> {
        let more = if from == 0 { 0x20 } else { 0 };
        let mut frame = vec![0x45, 0, 0, 36, 0, id, more, from / 8, 64, protocol, 0, 0];
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        let mut whole = [0; 32];
        // Ports; the length of a TCP header, ACK.
        whole[..4].copy_from_slice(&[0x9c, 0x40, 0, 80]);
        whole[12..14].copy_from_slice(&[0x50, 0x10]);
        frame.extend_from_slice(&whole[usize::from(from)..][..16]);
        frame
    }

    #[test]
    fn fragments_that_were_put_together_do_not_count() {
        const TCP: u8 = 6;
        const UDP: u8 = 17;
        let mut parser = Parser::new(Config::default());
        let mut analyzer = Analyzer::new(Options::default());
        let pieces = [
            (TCP, 1, 0),
            (TCP, 1, 16),
            (UDP, 2, 16),
            (UDP, 2, 0),
            (TCP, 3, 0),
        ];
        let mut counted = Vec::new();
        for (number, (protocol, id, from)) in pieces.into_iter().enumerate() {
            let frame = piece(protocol, id, from);
            parser.frame(LinkType::Raw, &frame, frame.len() as u32);
            let at = Instant::from_nanos(number as i64 + 1);
            analyzer.feed(number as u64 + 1, Some(at), &parser);
            counted.push(analyzer.totals().fragments);
        }
        assert_eq!(counted, [1, 0, 1, 0, 1]);
        assert_eq!(
            (analyzer.totals().packets, analyzer.totals().tcp_packets),
            (5, 1)
        );
    }
}
