//! How ssh(1) is started, and the line that the shell there runs.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tcplab_base::quoted;
use tcplab_guest::stack::Host;

use super::program::Program;
use super::remote;

/// What the user says of the way there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshOptions {
    /// `ssh -F`.
    pub config: Option<PathBuf>,
    /// The program that is copied; none: this one.
    pub program: Option<PathBuf>,
    /// Runs set the experiment's sysctls there, and put them back.
    pub sets_sysctls: bool,
}

/// The first word of the line by which the shell there says what it has.
const MARK: &str = "tcplab-far-side:";

/// What the shell there says first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The program is there; otherwise it waits for it.
    pub(super) is_there: bool,
    /// `uname -s` and `uname -m`.
    pub(super) system: String,
    pub(super) machine: String,
}

impl Greeting {
    /// Reads a line; none: it is something else, a message of the day perhaps.
    pub(super) fn read(line: &str) -> Option<Self> {
        let at = line.find(MARK)?;
        let mut words = line[at + MARK.len()..].split_whitespace();
        Some(Self {
            is_there: words.next()? == "there",
            system: words.next()?.to_owned(),
            machine: words.next()?.to_owned(),
        })
    }
}

/// The client, ready to be started.
pub(super) fn client(host: &Host, options: &SshOptions, program: &Program) -> Command {
    let mut command = Command::new("ssh");
    if let Some(config) = &options.config {
        command.arg("-F").arg(config);
    }
    // No terminal, no questions, nothing forwarded, and an end when the line is dead.
    command.arg("-T");
    for option in [
        "BatchMode=yes",
        "ConnectTimeout=10",
        "ServerAliveInterval=10",
        "ServerAliveCountMax=3",
        // This one leaves the agent, X11, a tunnel and credentials of Kerberos as the configuration has them.
        "ClearAllForwardings=yes",
        "ForwardAgent=no",
        "ForwardX11=no",
        "GSSAPIDelegateCredentials=no",
        "Tunnel=no",
        "PermitLocalCommand=no",
        "RemoteCommand=none",
    ] {
        command.arg("-o").arg(option);
    }
    command.arg("--").arg(&host.word).arg(shell_line(program));
    // Ctrl-C on a terminal is ours: the client ends with its input.
    command.process_group(0);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// How a user tries the same by hand.
pub(super) fn by_hand(host: &Host, options: &SshOptions) -> String {
    let word = quoted(&host.word);
    match &options.config {
        Some(config) => format!("ssh -F {} {word} true", quoted(&config.to_string_lossy())),
        None => format!("ssh {word} true"),
    }
}

/// POSIX sh, on one line and without single quotes or `!`: login shells differ (fish, csh).
fn shell_line(program: &Program) -> String {
    let (hash, size, word) = (&program.hash, program.bytes.len(), remote::WORD);
    let new = remote::NEW;
    // A copy that nobody has used for a month goes when another one comes.
    format!(
        "exec sh -c '\
n=; b=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/tcplab/bin\"; p=\"$b/{hash}/tcplab\"; \
m=\"$(uname -s) $(uname -m)\"; \
if [ -x \"$p\" ] && [ \"$(wc -c <\"$p\")\" -eq {size} ]; then echo \"{MARK} there $m\"; touch \"$b/{hash}\"; \
else echo \"{MARK} copy $m\"; t=\"$b/{hash}/part.$$\"; \
mkdir -p \"$b/{hash}\" && head -c {size} >\"$t\" && [ \"$(wc -c <\"$t\")\" -eq {size} ] \
&& chmod 755 \"$t\" && mv -f \"$t\" \"$p\" \
|| {{ rm -f \"$t\"; echo \"cannot keep a copy in $b\" >&2; exit 1; }}; \
n={new}; find \"$b\" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {{}} + ; fi; \
exec \"$p\" {word} $n'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_every_login_shell() {
        let program = Program::load(None).unwrap();
        let line = shell_line(&program);
        assert_eq!(line.matches('\'').count(), 2);
        assert!(!line.contains(['!', '\n', '\\']));
    }

    #[test]
    fn ssh_forwards_nothing_despite_the_configuration() {
        let place = tempfile::tempdir().unwrap();
        let config = place.path().join("config");
        let generous = "ForwardAgent yes\nForwardX11 yes\nTunnel yes\nPermitLocalCommand yes\nLocalCommand true\n\
                        GSSAPIDelegateCredentials yes\nLocalForward 1234 localhost:1\nRemoteForward 1235 localhost:1\n\
                        DynamicForward 1236\nProxyJump jump.example\n";
        std::fs::write(&config, generous).unwrap();
        let options = SshOptions {
            config: Some(config),
            ..SshOptions::default()
        };
        let program = Program::load(None).unwrap();
        let mut command = client(&Host::parse("a.example").unwrap(), &options, &program);
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        for option in ["ForwardAgent=no", "PermitLocalCommand=no", "Tunnel=no"] {
            assert!(arguments.iter().any(|word| word == option), "{option}");
        }
        // Asks ssh how it reads the options; nothing is connected.
        command = Command::new("ssh");
        command.arg("-G").args(arguments);
        let Ok(said) = command.output() else {
            eprintln!("skipped: no ssh here to ask what it makes of its options");
            return;
        };
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let has = |line: &str| said.lines().any(|l| l == line);
        for line in [
            "forwardagent no",
            "forwardx11 no",
            "tunnel false",
            "permitlocalcommand no",
        ] {
            assert!(has(line), "{line}: {said}");
        }
        assert!(has("proxyjump jump.example"), "{said}");
        for gone in [
            "localforward",
            "remoteforward",
            "dynamicforward",
            "gssapidelegatecredentials yes",
        ] {
            assert!(!said.contains(&format!("\n{gone}")), "{gone}: {said}");
        }
    }

    #[test]
    fn manual_command_is_quoted() {
        let host = Host {
            word: "a;reboot".into(),
            address: None,
        };
        let options = SshOptions {
            config: Some("my config".into()),
            ..SshOptions::default()
        };
        assert_eq!(
            by_hand(&host, &options),
            "ssh -F 'my config' 'a;reboot' true"
        );
    }

    #[test]
    fn greetings() {
        let copy = Greeting::read("tcplab-far-side: copy Linux x86_64").unwrap();
        assert!(!copy.is_there && copy.machine == "x86_64");
        assert!(Greeting::read("welcome tcplab-far-side: there Linux x86_64").is_some());
        for line in [
            "",
            "Last login: yesterday",
            "tcplab-far-side:",
            "tcplab-far-side: there",
        ] {
            assert_eq!(Greeting::read(line), None, "{line}");
        }
    }
}
