//! The words of hosts: what ssh takes, and perhaps the address by which the others reach it.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use tcplab_base::is_hidden;

/// What no name of a host or user has (OpenSSH 9.6 and newer refuse it too), and a shell would read.
const SHELL: &str = "'\"`$\\;&<>|(){}!*?#~";

/// A host as the user names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Host {
    /// What ssh takes: `user@name`, an alias of ssh_config(5), `ssh://user@name:port`.
    pub word: String,
    /// The host's address for the other hosts; `None`: the address where the ssh connection arrived.
    pub address: Option<IpAddr>,
}

/// A word that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// Nothing between two commas.
    #[error("`{0}` names an empty host: write ssh:A,B")]
    Empty(String),
    /// ssh would read an option.
    #[error("`{0}` is not a host: it begins with a dash")]
    Option(String),
    /// Blanks, control characters, or what a shell reads: ssh puts the name into a ProxyCommand and a LocalCommand.
    #[error(
        "`{0}` is not a host: it has a blank, a control character, or a character of the shell"
    )]
    Character(String),
    /// What stands after `=`.
    #[error(
        "`{0}` is no IP address (in `{1}`): write HOST=10.0.0.1, the address by which the other host reaches it"
    )]
    Address(String, String),
}

impl Host {
    /// Reads `user@name` or `user@name=10.0.0.1`.
    ///
    /// # Errors
    /// When the text does not name a host.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        // Also behind a user: old versions of ssh hand it to a ProxyCommand as it is.
        if text.split(['@', '/']).any(|part| part.starts_with('-')) {
            return Err(HostError::Option(text.to_owned()));
        }
        let (word, address) = match text.split_once('=') {
            None => (text, None),
            Some((word, address)) => {
                let read = address.parse();
                let wrong = |_| HostError::Address(address.to_owned(), text.to_owned());
                (word, Some(read.map_err(wrong)?))
            }
        };
        if word.is_empty() {
            return Err(HostError::Empty(text.to_owned()));
        }
        if word.contains(|c: char| c.is_whitespace() || is_hidden(c) || SHELL.contains(c)) {
            return Err(HostError::Character(word.escape_debug().to_string()));
        }
        Ok(Self {
            word: word.to_owned(),
            address,
        })
    }

    /// Reads `A,B`, what stands after `ssh:`.
    ///
    /// # Errors
    /// When one of them is no host.
    pub fn list(text: &str) -> Result<Vec<Self>, HostError> {
        text.split(',').map(Self::parse).collect()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        match self.address {
            Some(address) => write!(f, "={address}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_hosts() {
        for text in [
            "a",
            "me@a.example",
            "ssh://me@a:2222",
            "a=10.0.0.1",
            "a=fe80::1",
        ] {
            assert_eq!(Host::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Host::list("a=10.0.0.1,b").unwrap().len(), 2);
        for text in [
            "",
            "a,",
            "-oProxyCommand=x",
            "-l",
            "me@-oProxyCommand=x",
            "ssh://-oProxyCommand=x",
            "a=b",
            "=10.0.0.1",
            "a b",
            "a\n",
            "a\u{202e}b",
            "a;reboot",
            "$(reboot)",
            "a`x`",
            "me@a|b",
        ] {
            assert!(Host::list(text).is_err(), "{text}");
        }
    }
}
