//! What every form of output does, and the choice among them.

use std::io;

use tcplab_analyze::Output;
use tcplab_analyze::report::Totals;

use crate::analyze::{acks::Acks, compat::Compat, json::Json, text::Text};
use crate::args::{AnalyzeArgs, Color};
use crate::failure::Failure;
use crate::files::Out;
use crate::terminal;

/// A form of the result. The calls come in this order: `open`, then for each capture `begin`,
/// `output` for everything that the analyser hands out, `end`; then `close`.
pub trait Form {
    /// The first call.
    fn open(&mut self, out: &mut Out) -> io::Result<()> {
        let _ = out;
        Ok(())
    }

    /// A capture begins.
    fn begin(&mut self, out: &mut Out, file: &str) -> io::Result<()>;

    /// The analyser handed something out.
    fn output(&mut self, out: &mut Out, output: Output) -> io::Result<()>;

    /// A capture is over; `totals.error` tells whether it was damaged or could not be opened.
    fn end(&mut self, out: &mut Out, totals: &Totals) -> io::Result<()>;

    /// The last call, with the first thing that went wrong.
    fn close(&mut self, out: &mut Out, failure: Option<&Failure>) -> io::Result<()> {
        let _ = (out, failure);
        Ok(())
    }
}

/// The form that the arguments ask for.
pub fn choose(args: &AnalyzeArgs, color: Color) -> Box<dyn Form> {
    let theme = terminal::theme(color, args.output.is_some());
    if args.acks {
        Box::new(Acks::new(args.json, theme, args.caqm()))
    } else if args.tshark_compat {
        Box::new(Compat::new(args.json, args.max_packets))
    } else if args.json {
        Box::new(Json::default())
    } else {
        Box::new(Text::new(args, theme))
    }
}
