//! Arguments of calls: expressions to numbers, lists and buffers, with the place of what is wrong.

use super::{Stop, fail};
use crate::call::Buffer;
use crate::script::{At, CallSpec, Expr};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Args<'a>(pub(super) &'a CallSpec);

impl<'a> Args<'a> {
    /// How many there must be.
    pub(super) fn count(self, least: usize, most: usize) -> Result<(), Stop> {
        let n = self.0.args.len();
        if (least..=most).contains(&n) {
            return Ok(());
        }
        let name = &self.0.name.value;
        let wanted = if least == most {
            least.to_string()
        } else {
            format!("{least} to {most}")
        };
        Err(fail(
            self.0.close,
            format!("{name}() has {n} arguments, not {wanted}"),
        ))
    }

    pub(super) fn get(self, i: usize) -> Result<&'a At<Expr>, Stop> {
        self.0.args.get(i).ok_or_else(|| {
            let name = &self.0.name.value;
            fail(self.0.close, format!("{name}() lacks argument {}", i + 1))
        })
    }

    /// A number of 32 bits, signed or not.
    pub(super) fn int(self, i: usize) -> Result<i32, Stop> {
        int(self.get(i)?)
    }

    pub(super) fn long(self, i: usize) -> Result<i64, Stop> {
        number(self.get(i)?)
    }

    /// A length.
    pub(super) fn len(self, i: usize) -> Result<u64, Stop> {
        let at = self.get(i)?;
        u64::try_from(int(at)?).map_err(|_| fail(at.place, "a length is not negative"))
    }

    pub(super) fn is_ellipsis(self, i: usize) -> bool {
        matches!(
            self.0.args.get(i),
            Some(At {
                value: Expr::Ellipsis,
                ..
            })
        )
    }

    /// `...` must stand here.
    pub(super) fn ellipsis(self, i: usize) -> Result<(), Stop> {
        let at = self.get(i)?;
        if self.is_ellipsis(i) {
            return Ok(());
        }
        Err(fail(at.place, "only `...` can stand here"))
    }

    /// `...` or NULL, with the length that stands in argument `len`.
    pub(super) fn buffer(self, i: usize, len: usize) -> Result<Buffer, Stop> {
        let at = self.get(i)?;
        let len = self.len(len)?;
        match &at.value {
            Expr::Ellipsis => Ok(Buffer::Len(len)),
            Expr::Int(_) | Expr::Word(_) if number(at)? == 0 => Ok(Buffer::Null(len)),
            _ => Err(fail(at.place, "a buffer is `...` or NULL")),
        }
    }

    /// `[x]`
    pub(super) fn bracketed(self, i: usize) -> Result<&'a At<Expr>, Stop> {
        only(self.get(i)?)
    }
}

/// The one element of a list.
pub(super) fn only(at: &At<Expr>) -> Result<&At<Expr>, Stop> {
    match list(at)? {
        [one] => Ok(one),
        _ => Err(fail(at.place, "one value in brackets is expected here")),
    }
}

/// The elements of a list.
pub(super) fn list(at: &At<Expr>) -> Result<&[At<Expr>], Stop> {
    match &at.value {
        Expr::List(list) | Expr::Group(list) => Ok(list),
        _ => Err(fail(at.place, "a list in brackets is expected here")),
    }
}

/// The number that an expression is.
pub(super) fn number(at: &At<Expr>) -> Result<i64, Stop> {
    match &at.value {
        Expr::Int(n) => Ok(*n),
        Expr::Word(word) => crate::symbols::number_or_hint(word).map_err(|why| fail(at.place, why)),
        Expr::Or(left, right) => Ok(number(left)? | number(right)?),
        // As inet_addr(3) gives it: the bytes in the order of the network.
        Expr::InetAddr(ip) => Ok(i64::from(u32::from_le_bytes(ip.octets()))),
        _ => Err(fail(at.place, "a number is expected here")),
    }
}

/// A number of 32 bits, signed or not.
pub(super) fn int(at: &At<Expr>) -> Result<i32, Stop> {
    let n = number(at)?;
    if n > i64::from(u32::MAX) || n < i64::from(i32::MIN) {
        return Err(fail(at.place, format!("{n} does not fit into 32 bits")));
    }
    Ok(n as i32)
}

/// The buffers of an `iovec` list, checked against their number.
pub(super) fn iovec(at: &At<Expr>, count: i64) -> Result<Vec<u64>, Stop> {
    let buffers = list(at)?;
    if buffers.len() as i64 != count {
        let n = buffers.len();
        return Err(fail(
            at.place,
            format!("{n} buffers are here, and the script says {count}"),
        ));
    }
    let len = |buffer: &At<Expr>| match &buffer.value {
        Expr::Iovec(len) => {
            u64::try_from(number(len)?).map_err(|_| fail(len.place, "a length is not negative"))
        }
        _ => Err(fail(buffer.place, "a buffer is `{..., LENGTH}`")),
    };
    buffers.iter().map(len).collect()
}
