//! One capture file for each interface of each host, as tcpdump on that host would write it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use tcplab_base::Instant;
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_wire::LinkType;

/// A file of packets, or nothing when the point wants none. Times are absolute, frames are cut at the point's `snap_bytes`.
pub struct CaptureFile {
    out: Option<PcapngWriter<BufWriter<File>>>,
    snap: usize,
}

impl CaptureFile {
    /// Creates the file. `interface` goes into it as the interface's name.
    pub fn create(path: &Path, interface: &str, snap_bytes: u32) -> io::Result<Self> {
        Self::create_of(LinkType::Ethernet, path, interface, snap_bytes)
    }

    /// The same of frames that begin with another header.
    pub fn create_of(
        link: LinkType,
        path: &Path,
        interface: &str,
        snap_bytes: u32,
    ) -> io::Result<Self> {
        // One write a megabyte: a guest's writes go through the host's file system.
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut out = PcapngWriter::new(file)?;
        out.add_interface(&Interface {
            link,
            snaplen: snap_bytes,
            tsresol: 9,
            name: Some(interface.into()),
        })?;
        let snap = match snap_bytes {
            0 => usize::MAX,
            n => n as usize,
        };
        let out = Some(out);
        Ok(Self { out, snap })
    }

    /// Takes frames and keeps none.
    pub fn none() -> Self {
        Self { out: None, snap: 0 }
    }

    /// Adds a frame that was `whole` bytes long on the wire.
    pub fn frame(&mut self, at: Instant, frame: &[u8], whole: u32) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let kept = &frame[..frame.len().min(self.snap)];
        out.packet(0, Some(at), kept, whole, &[])
    }

    /// Writes the rest.
    pub fn finish(self) -> io::Result<()> {
        self.out.map_or(Ok(()), |out| out.finish().map(drop))
    }
}
