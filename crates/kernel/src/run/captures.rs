//! One capture file for each interface of each host, as tcpdump on that host would write it.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use tcplab_base::Instant;
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_wire::LinkType;

/// A file of packets. Times are absolute, frames are cut at the point's `snap_bytes`.
pub(crate) struct CaptureFile {
    out: PcapngWriter<BufWriter<File>>,
    snap: usize,
}

impl CaptureFile {
    /// Creates the file. `interface` goes into it as the interface's name.
    pub(crate) fn create(path: &Path, interface: &str, snap_bytes: u32) -> io::Result<Self> {
        // One write a megabyte: a guest's writes go through the host's file system.
        let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        let mut out = PcapngWriter::new(file)?;
        out.add_interface(&Interface {
            link: LinkType::Ethernet,
            snaplen: snap_bytes,
            tsresol: 9,
            name: Some(interface.into()),
        })?;
        let snap = match snap_bytes {
            0 => usize::MAX,
            n => n as usize,
        };
        Ok(Self { out, snap })
    }

    pub(crate) fn frame(&mut self, at: Instant, frame: &[u8], whole: u32) -> io::Result<()> {
        let kept = &frame[..frame.len().min(self.snap)];
        self.out.packet(0, Some(at), kept, whole, &[])
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        self.out.finish().map(drop)
    }
}
