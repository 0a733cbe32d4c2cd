//! A request: the one that the client sends, and those that our server reads.

/// Fields of a head that are looked at.
const FIELDS: usize = 32;
/// The longest head.
const LONGEST: usize = 16 << 10;

/// What the client sends, again and again. `is_last`: the server shall close behind its answer.
pub(super) fn text(host: &str, size: u32, is_last: bool) -> Vec<u8> {
    let close = match is_last {
        true => "Connection: close\r\n",
        false => "",
    };
    format!("GET /{size} HTTP/1.1\r\nHost: {host}\r\n{close}\r\n").into_bytes()
}

/// What a server's connection has read.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The beginning of one that is not whole.
    begun: Vec<u8>,
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// None is whole.
    Nothing,
    /// One that wants an answer.
    One {
        /// The connection ends behind the answer.
        is_last: bool,
    },
}

impl Requests {
    /// Takes what came. A client sends its next request when it has its answer: what follows one is an error.
    pub(super) fn take(&mut self, came: &[u8]) -> Result<Came, &'static str> {
        if self.begun.is_empty() {
            let found = whole(came)?;
            if found == Came::Nothing {
                self.begun.extend_from_slice(came);
            }
            return Ok(found);
        }
        self.begun.extend_from_slice(came);
        let found = whole(&self.begun)?;
        match found {
            Came::One { .. } => self.begun.clear(),
            Came::Nothing if self.begun.len() > LONGEST => return Err("a head without an end"),
            Came::Nothing => {}
        }
        Ok(found)
    }
}

fn whole(bytes: &[u8]) -> Result<Came, &'static str> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Err(_) => Err("this is no request of HTTP/1.1"),
        Ok(httparse::Status::Partial) => Ok(Came::Nothing),
        Ok(httparse::Status::Complete(length)) if length < bytes.len() => {
            Err("a second request before the first was answered")
        }
        Ok(httparse::Status::Complete(_)) => Ok(Came::One {
            is_last: request.headers.iter().any(|field| {
                field.name.eq_ignore_ascii_case("connection")
                    && field.value.eq_ignore_ascii_case(b"close")
            }),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_in_any_pieces() {
        for is_last in [false, true] {
            let text = text("127.0.0.1:80", 64, is_last);
            for cut in 1..text.len() {
                let mut requests = Requests::default();
                assert_eq!(requests.take(&text[..cut]), Ok(Came::Nothing));
                assert_eq!(requests.take(&text[cut..]), Ok(Came::One { is_last }));
            }
        }
        assert!(Requests::default().take(b"\x16\x03\x01").is_err());
        assert!(
            Requests::default()
                .take(b"GET / HTTP/1.1\r\n\r\nGET")
                .is_err()
        );
    }
}
