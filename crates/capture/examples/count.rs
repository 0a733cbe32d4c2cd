//! Counts the packets and the TCP packets of captures: `cargo run --release --example count -- FILE...`
//!
//! The counts are those of `tshark -r FILE` and `tshark -r FILE -Y tcp`; `--frames` prints each frame's kind before them.
//! Also the measure of reading and parsing alone.

use std::fs::File;
use std::io::Write;

use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, NotTcp, Parsed, Reassembler};

fn main() -> std::io::Result<()> {
    let config = Config::default();
    let mut out = std::io::stdout().lock();
    let mut frames = false;
    for path in std::env::args().skip(1) {
        if path == "--frames" {
            frames = true;
            continue;
        }
        let mut counts = Counts::default();
        let mut fragments = Reassembler::default();
        let mut error = String::from("-");
        match Reader::new(File::open(&path)?) {
            Ok(mut reader) => loop {
                match reader.next() {
                    Ok(Some(record)) => {
                        let parsed = parse(&record.body, &mut fragments, &config);
                        counts.add(&parsed);
                        if frames {
                            writeln!(out, "{}\t{}", record.number, describe(&parsed))?;
                        }
                    }
                    Ok(None) => break,
                    Err(e) => error = e.to_string(),
                }
            },
            Err(e) => error = e.to_string(),
        }
        let Counts {
            packets,
            tcp,
            bytes,
            fragments,
        } = counts;
        writeln!(
            out,
            "{path}\t{packets}\t{tcp}\t{bytes}\t{fragments}\t{error}"
        )?;
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    packets: u64,
    tcp: u64,
    bytes: u64,
    fragments: u64,
}

impl Counts {
    fn add(&mut self, parsed: &Parsed) {
        self.packets += 1;
        self.tcp += u64::from(parsed.is_tcp());
        match parsed {
            Parsed::Tcp(p) => self.bytes += u64::from(p.payload_len),
            Parsed::NotTcp(why) => self.fragments += u64::from(*why == NotTcp::Fragment),
        }
    }
}

fn parse(body: &Body<'_>, fragments: &mut Reassembler, config: &Config) -> Parsed {
    match *body {
        Body::Frame {
            link,
            data,
            orig_len,
        } => fragments.parse(link, data, orig_len, config),
        Body::Tcp(packet) => Parsed::Tcp(*packet),
        Body::Other => Parsed::NotTcp(NotTcp::NotIp),
    }
}

fn describe(parsed: &Parsed) -> String {
    match parsed {
        Parsed::Tcp(p) if p.standing.has_length() => {
            format!("tcp\t{}\t{:?}", p.payload_len, p.standing)
        }
        Parsed::Tcp(p) => format!("tcp\t\t{:?}", p.standing),
        Parsed::NotTcp(NotTcp::TcpStub) => "stub".into(),
        Parsed::NotTcp(why) => format!("{why:?}"),
    }
}
