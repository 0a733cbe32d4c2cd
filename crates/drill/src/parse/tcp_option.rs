//! TCP options: `<mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8>`.

use super::cursor::Cursor;
use crate::error::ScriptError;
use crate::lex::Kind;
use crate::packet::write_option;
use crate::script::{AccEcnField, Place, TcpOption};

/// Bytes of options that a TCP header has room for.
const MAX_OPTIONS_LEN: usize = 40;

/// What stands between `<`, which has been read, and `>`. None: `...`.
pub fn options(
    cursor: &mut Cursor<'_>,
    place: Place,
) -> Result<Option<Vec<TcpOption>>, ScriptError> {
    if cursor.eat("...") {
        cursor.expect(">")?;
        return Ok(None);
    }
    let mut out = Vec::new();
    let mut bytes = Vec::new();
    loop {
        let before = cursor.place();
        let next = option(cursor)?;
        write_option(&next, &mut bytes);
        out.push(next);
        if bytes.len() > MAX_OPTIONS_LEN {
            return Err(ScriptError::new(
                before,
                format!("the options have more than {MAX_OPTIONS_LEN} bytes with this one"),
            ));
        }
        if !cursor.eat(",") {
            break;
        }
    }
    cursor.expect(">")?;
    match bytes.len() {
        len if len.is_multiple_of(4) => Ok(Some(out)),
        len => Err(ScriptError::new(
            place,
            format!("the options have {len} bytes, which is not a multiple of 4: add `nop`s"),
        )),
    }
}

fn option(cursor: &mut Cursor<'_>) -> Result<TcpOption, ScriptError> {
    for (word, option) in [
        ("nop", TcpOption::Nop),
        ("eol", TcpOption::Eol),
        ("sackOK", TcpOption::SackPermitted),
    ] {
        if cursor.eat(word) {
            return Ok(option);
        }
    }
    if cursor.eat("mss") {
        return cursor.unsigned("the MSS").map(TcpOption::Mss);
    }
    if cursor.eat("wscale") {
        return cursor
            .unsigned("the shift count")
            .map(TcpOption::WindowScale);
    }
    if cursor.eat("TS") {
        cursor.expect("val")?;
        let val = cursor.unsigned("the time stamp")?;
        cursor.expect("ecr")?;
        let ecr = cursor.unsigned("the time stamp that is echoed")?;
        return Ok(TcpOption::Timestamps { val, ecr });
    }
    if cursor.eat("sack") {
        return sack(cursor);
    }
    if cursor.eat("FO") {
        return hex(cursor, 38).map(TcpOption::FastOpen);
    }
    if cursor.eat("FOEXP") {
        return hex(cursor, 36).map(TcpOption::FastOpenExp);
    }
    if cursor.eat("md5") {
        if let Some(Kind::Word("valid")) = cursor.peek() {
            cursor.lack(
                cursor.place(),
                "digests that packetdrill makes (`md5 valid`) are not supported",
            );
            cursor.bump();
            return Ok(TcpOption::Md5(vec![0; 16]));
        }
        let digest = hex(cursor, 16)?;
        return match digest.is_empty() {
            true => Err(cursor.fail("the digest as hexadecimal digits")),
            false => Ok(TcpOption::Md5(digest)),
        };
    }
    if cursor.eat("ECN") {
        return acc_ecn(cursor);
    }
    Err(cursor.fail(""))
}

fn sack(cursor: &mut Cursor<'_>) -> Result<TcpOption, ScriptError> {
    let mut blocks = Vec::new();
    loop {
        let left = cursor.unsigned("a SACK block (`1001:2001`)")?;
        cursor.expect(":")?;
        let right = cursor.unsigned("the SACK block's right edge")?;
        blocks.push((left, right));
        if blocks.len() > MAX_OPTIONS_LEN / 8 {
            return Err(cursor.error("too many SACK blocks: four have room"));
        }
        if cursor.number()?.is_none() {
            return Ok(TcpOption::Sack(blocks));
        }
    }
}

/// Hexadecimal digits, or nothing.
fn hex(cursor: &mut Cursor<'_>, most: usize) -> Result<Vec<u8>, ScriptError> {
    let text = match cursor.peek() {
        // A short cookie may look like a word of the language (`ce`).
        Some(Kind::Word(t) | Kind::Keyword(t) | Kind::Int(t) | Kind::Number(t, _)) => t,
        _ => return Ok(Vec::new()),
    };
    let byte = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let is_hex = text.bytes().all(|b| b.is_ascii_hexdigit());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    match bytes.filter(|_| is_hex) {
        Some(bytes) if bytes.len() <= most => {
            cursor.bump();
            Ok(bytes)
        }
        Some(bytes) => Err(cursor.error(format!(
            "{} bytes are too many here: {most} have room",
            bytes.len()
        ))),
        None => Err(cursor.error(format!(
            "`{text}` is not made of pairs of hexadecimal digits"
        ))),
    }
}

/// `ECN e0b N ceb N e1b N`, or e1b first; fields at the end may be missing.
fn acc_ecn(cursor: &mut Cursor<'_>) -> Result<TcpOption, ScriptError> {
    let (first, last) = match cursor.eat("e1b") {
        true => (AccEcnField::E1b, ("e0b", AccEcnField::E0b)),
        false => {
            cursor.expect("e0b")?;
            (AccEcnField::E0b, ("e1b", AccEcnField::E1b))
        }
    };
    let mut fields = vec![(first, cursor.bits(24, "the counter")?)];
    for (word, field) in [("ceb", AccEcnField::Ceb), last] {
        if !cursor.eat(word) {
            break;
        }
        fields.push((field, cursor.bits(24, "the counter")?));
    }
    Ok(TcpOption::AccEcn(fields))
}
