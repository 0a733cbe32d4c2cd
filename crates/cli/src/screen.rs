//! Standard output of the command. All that is printed goes through a [`Screen`], which makes hidden characters
//! visible: strings of files, interfaces and far hosts stand in every result. Messages go to standard error by
//! [`tcplab_os::say`].

use std::borrow::Cow;
use std::io::{self, StdoutLock, Write};

use tcplab_base::is_hidden;
use tcplab_report::terminal::Theme;
use tcplab_report::terminal::style;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Text, perhaps with the colours of a theme.
    Text { painted: bool },
    /// JSON: its strings stay what they are, in JSON's own escapes.
    Json,
}

/// A writer in front of a terminal.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    form: Form,
    /// The begin of a character that was cut.
    cut: Vec<u8>,
}

/// Standard output for text without colours.
pub fn plain() -> Screen<StdoutLock<'static>> {
    text(io::stdout().lock())
}

/// Standard output for text with the colours of a theme.
pub fn painted(theme: &Theme) -> Screen<StdoutLock<'static>> {
    let painted = theme.color;
    Screen::new(io::stdout().lock(), Form::Text { painted })
}

/// A writer for text without colours, in front of another one.
pub fn text<W: Write>(out: W) -> Screen<W> {
    Screen::new(out, Form::Text { painted: false })
}

/// A writer for JSON, in front of standard output.
pub fn json<W: Write>(out: W) -> Screen<W> {
    Screen::new(out, Form::Json)
}

/// What standard output still holds back goes out: the last act of the command.
pub fn finish() -> io::Result<()> {
    io::stdout().lock().flush()
}

impl<W: Write> Screen<W> {
    fn new(out: W, form: Form) -> Self {
        Self {
            out,
            form,
            cut: Vec::new(),
        }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        let shown = match self.form {
            Form::Text { painted } => style::screen(text, painted),
            Form::Json => escaped(text),
        };
        self.out.write_all(shown.as_bytes())
    }
}

/// Hidden characters as JSON escapes. Outside of strings JSON has no characters but ASCII, and of controls only white
/// space.
fn escaped(text: &str) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t' | '\r') || !is_hidden(c);
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if stays(c) {
            out.push(c);
            continue;
        }
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            out += &format!("\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.cut);
        all.extend_from_slice(bytes);
        for chunk in all.utf8_chunks() {
            self.put(chunk.valid())?;
            match chunk.invalid() {
                [] => {}
                // The rest of the character may come yet.
                cut if all.ends_with(cut) && is_begin(cut) => self.cut = cut.to_vec(),
                _ => self.put("\u{fffd}")?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether more bytes can make these a character.
fn is_begin(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(form: Form, pieces: &[&[u8]]) -> String {
        let mut screen = Screen::new(Vec::new(), form);
        for piece in pieces {
            screen.write_all(piece).unwrap();
        }
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn text_has_no_hidden_characters_and_json_has_them_as_escapes() {
        let text = Form::Text { painted: false };
        let hostile = "a\u{9b}2Jb\u{202e}c\u{e0041}\n";
        assert_eq!(
            through(text, &[hostile.as_bytes()]),
            "a\u{fffd}2Jb\u{fffd}c\u{fffd}\n"
        );
        let json = through(
            Form::Json,
            &[serde_json::to_string(hostile).unwrap().as_bytes()],
        );
        assert_eq!(json, r#""a\u009b2Jb\u202ec\udb40\udc41\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn a_character_may_come_in_pieces() {
        let text = Form::Text { painted: false };
        let arrow = "\u{2192}".as_bytes();
        assert_eq!(through(text, &[&arrow[..1], &arrow[1..]]), "\u{2192}");
        let turn = "\u{202e}".as_bytes();
        assert_eq!(
            through(text, &[b"a", &turn[..2], &turn[2..], b"b"]),
            "a\u{fffd}b"
        );
        assert_eq!(through(text, &[b"a\xff\x9bb"]), "a\u{fffd}\u{fffd}b");
    }
}
