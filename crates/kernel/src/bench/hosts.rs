//! Two machines as the place of runs: the client's end on one, the server's on the other, asked for through ssh.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::Duration;

use super::measure::Side;
use super::{BenchError, Measured, Spec};
use crate::Stop;
use crate::ssh::{Host, Pending, Reply, Request, Say, Session, SshError, SshOptions, open_all};

/// How often answers are looked for.
const LOOK: Duration = Duration::from_millis(2);

/// Two machines with this program on them.
#[derive(Debug)]
pub struct Hosts {
    client: Session,
    server: Session,
    /// The server's, for the client.
    address: IpAddr,
}

impl Hosts {
    /// Opens both.
    ///
    /// # Errors
    /// All of [`SshError`]; a server whose address is not known.
    pub fn open(
        pair: &[Host; 2],
        options: &SshOptions,
        stop: &Stop,
        say: Say<'_>,
    ) -> Result<Self, SshError> {
        let mut sessions = open_all(pair, options, stop, say)?.into_iter();
        let (Some(client), Some(server)) = (sessions.next(), sessions.next()) else {
            return Err(SshError::Interrupted);
        };
        let address = server.address().ok_or_else(|| SshError::Far {
            host: server.host.word.clone(),
            words: format!(
                "its address is not known; write {}=ADDRESS, the one by which the other host reaches it",
                server.host.word
            ),
        })?;
        Ok(Self {
            client,
            server,
            address,
        })
    }

    /// Both machines in a line each, the client's first.
    pub fn systems(&self) -> [String; 2] {
        [&self.client, &self.server].map(|session| {
            let facts = &session.facts;
            let (host, kernel, cpus) = (&session.host.word, &facts.kernel, facts.cpus);
            format!("{host}: Linux {kernel}, {cpus} processors")
        })
    }

    /// Runs a workload once. `Ok(None)`: the user wants an end.
    ///
    /// # Errors
    /// What a machine refuses, with its name.
    pub(super) fn run(&self, spec: &Spec, stop: &Stop) -> Result<Option<Measured>, BenchError> {
        match self.once(spec, stop) {
            Ok([client, server]) => Ok(Some(Measured {
                client: client.report,
                server: server.report,
                noise: client.machine.noise,
                counters: client.machine.counters,
                server_machine: Some(server.machine),
            })),
            Err(SshError::Interrupted) => Ok(None),
            Err(e) => Err(BenchError {
                what: "a run between two hosts".into(),
                source: io::Error::other(e),
            }),
        }
    }

    /// What client and server found.
    fn once(&self, spec: &Spec, stop: &Stop) -> Result<[Side; 2], SshError> {
        let mut server = self.server.start(&Request::BenchServe {
            spec: spec.clone(),
            address: self.address,
        });
        let port = match server.next(stop)?.reply {
            Reply::Listening(port) => port,
            other => return Err(self.server.odd(&other)),
        };
        let mut client = self.client.start(&Request::BenchAsk {
            spec: spec.clone(),
            to: SocketAddr::from((self.address, port)),
        });
        let mut sides = [None, None];
        // Whichever fails first says why; the other one is told to stop when its request is dropped.
        while sides.iter().any(Option::is_none) {
            if stop.wanted() {
                return Err(SshError::Interrupted);
            }
            sides[0] = sides[0].take().or(found(&mut client, &self.client)?);
            sides[1] = sides[1].take().or(found(&mut server, &self.server)?);
            thread::sleep(LOOK);
        }
        let [Some(client), Some(server)] = sides else {
            return Err(SshError::Interrupted);
        };
        Ok([client, server])
    }
}

/// What an end found, when it is there already.
fn found(end: &mut Pending<'_>, session: &Session) -> Result<Option<Side>, SshError> {
    match end.poll()?.map(|message| message.reply) {
        None => Ok(None),
        Some(Reply::Bench(side)) => Ok(Some(*side)),
        Some(other) => Err(session.odd(&other)),
    }
}
