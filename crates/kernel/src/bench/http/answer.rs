//! An answer as it comes in (RFC 9112): its head by `httparse`, its body counted.

/// Fields of a head that are looked at.
const FIELDS: usize = 32;
/// The longest head.
const LONGEST: usize = 16 << 10;

/// What has come of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The beginning of a head that came in pieces.
    head: Vec<u8>,
    /// Bytes of the body that are to come; none: the head is not whole.
    left: Option<u64>,
    /// Bytes of head and body.
    bytes: u64,
}

impl Answer {
    /// Takes what came; an answer other than 200 with a body of `size` bytes is an error in words.
    #[inline]
    pub(super) fn take(&mut self, came: &[u8], size: u64) -> Result<(), String> {
        self.bytes += came.len() as u64;
        let body = match self.left {
            Some(_) => came.len(),
            None => match self.begin(came, size)? {
                Some(body) => body,
                None => return Ok(()),
            },
        };
        let left = self.left.unwrap_or_default().checked_sub(body as u64);
        self.left = Some(left.ok_or("more came than Content-Length says")?);
        Ok(())
    }

    /// Reads the head; gives how much of what came is body, none when more is needed.
    fn begin(&mut self, came: &[u8], size: u64) -> Result<Option<usize>, String> {
        let found = match self.head.is_empty() {
            true => head(came, size)?,
            false => {
                self.head.extend_from_slice(came);
                head(&self.head, size)?
            }
        };
        let all = self.head.len().max(came.len());
        let Some(length) = found else {
            if self.head.is_empty() {
                self.head.extend_from_slice(came);
            }
            if self.head.len() > LONGEST {
                return Err(format!("a head of more than {LONGEST} bytes"));
            }
            return Ok(None);
        };
        self.head.clear();
        self.left = Some(size);
        Ok(Some(all - length))
    }

    /// Whether all of it has come.
    pub(super) fn is_whole(&self) -> bool {
        self.left == Some(0)
    }

    /// Makes it ready for another one; gives the bytes of this one.
    pub(super) fn finish(&mut self) -> u64 {
        self.left = None;
        self.head.clear();
        std::mem::take(&mut self.bytes)
    }
}

/// The length of a head; none when it is not whole.
fn head(bytes: &[u8], size: u64) -> Result<Option<usize>, String> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(bytes);
    let httparse::Status::Complete(length) =
        parsed.map_err(|e| format!("this is no answer of HTTP/1.1: {e}"))?
    else {
        return Ok(None);
    };
    let code = response.code.unwrap_or_default();
    if code != 200 {
        let reason = response.reason.unwrap_or_default();
        return Err(format!("the server answered {code} {reason}"));
    }
    let body = response.headers.iter().find_map(|field| {
        let is_it = field.name.eq_ignore_ascii_case("content-length");
        is_it.then(|| std::str::from_utf8(field.value).ok()?.trim().parse().ok())
    });
    match body.flatten() {
        Some(length) if length == size => {}
        Some::<u64>(other) => {
            return Err(format!("a body of {other} bytes instead of {size}"));
        }
        None => return Err("an answer without Content-Length".into()),
    }
    Ok(Some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-length: 5\r\n\r\nabcde";

    #[test]
    fn an_answer_comes_in_any_pieces() {
        for cut in 0..WHOLE.len() {
            for second in cut..WHOLE.len() {
                let mut answer = Answer::default();
                for part in [&WHOLE[..cut], &WHOLE[cut..second], &WHOLE[second..]] {
                    assert!(!answer.is_whole());
                    answer.take(part, 5).unwrap();
                }
                assert!(answer.is_whole(), "{cut} {second}");
                assert_eq!(answer.finish(), WHOLE.len() as u64);
                assert!(!answer.is_whole());
            }
        }
    }

    #[test]
    fn what_is_not_the_answer_says_so() {
        let take = |text: &str| Answer::default().take(text.as_bytes(), 5);
        for (text, says) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found"),
            ("HTTP/1.1 200 OK\r\n\r\n", "Content-Length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "6 bytes"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcdef",
                "more came",
            ),
            ("SSH-2.0-OpenSSH\r\n", "no answer"),
        ] {
            let e = take(text).unwrap_err();
            assert!(e.contains(says), "{e}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST));
        assert!(take(&endless).unwrap_err().contains("head"));
    }
}
