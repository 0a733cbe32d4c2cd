//! Two machines as the place of runs: the client's end on one, the server's on the other, asked for through ssh.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tcplab_guest::stack::Host;
use tcplab_kernel::ssh::{Message, Reply, Say, Session, SshError, SshOptions, open_all};
use tcplab_os::Stop;

use super::errands::{Ask, Serve};
use super::measure::Side;
use super::{Measured, Spec};
use tcplab_os::OsError;

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
        let address = server.address().ok_or_else(|| {
            server.far(format!(
                "its address is not known; write {}=ADDRESS, the one by which the other host reaches it",
                server.host.word
            ))
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

    /// Runs a workload once, with captures of both ends into these files if any. `Ok(None)`: the user wants an end.
    ///
    /// # Errors
    /// What a machine refuses, with its name.
    pub fn run(
        &self,
        spec: &Spec,
        captures: Option<&[PathBuf; 2]>,
        stop: &Stop,
    ) -> Result<Option<Measured>, OsError> {
        match self.once(spec, captures, stop) {
            Ok([client, server]) => Ok(Some(Measured {
                client: client.report,
                server: server.report,
                noise: client.machine.noise,
                counters: client.machine.counters,
                server_machine: Some(server.machine),
            })),
            Err(SshError::Interrupted) => Ok(None),
            Err(e) => Err(OsError::Os {
                what: "a run between two hosts".into(),
                source: io::Error::other(e),
            }),
        }
    }

    /// What client and server found.
    fn once(
        &self,
        spec: &Spec,
        captures: Option<&[PathBuf; 2]>,
        stop: &Stop,
    ) -> Result<[Side; 2], SshError> {
        let shifts = match captures {
            Some(_) => self.shifts(stop)?.map(Some),
            None => [None; 2],
        };
        let mut server = self.server.start(&asked(
            &self.server,
            Serve {
                spec: spec.clone(),
                address: self.address,
                capture: shifts[1],
            }
            .request(),
        )?);
        let port = match server.next(stop)?.reply {
            Reply::Listening(port) => port,
            other => return Err(self.server.odd(&other)),
        };
        let mut client = self.client.start(&asked(
            &self.client,
            Ask {
                spec: spec.clone(),
                to: SocketAddr::from((self.address, port)),
                capture: shifts[0],
            }
            .request(),
        )?);
        let mut sides = [None, None];
        // Whichever fails first says why; the other one is told to stop when its request is dropped.
        while sides.iter().any(Option::is_none) {
            if stop.wanted() {
                return Err(SshError::Interrupted);
            }
            let ends = [(&mut client, &self.client), (&mut server, &self.server)];
            for (n, (end, session)) in ends.into_iter().enumerate() {
                while sides[n].is_none()
                    && let Some(Message { reply, bytes, .. }) = end.poll()?
                {
                    match (reply, captures) {
                        (Reply::Found(side), _) => {
                            sides[n] = Some(asked(session, serde_json::from_value(side))?);
                        }
                        (Reply::File(_), Some(files)) => append(&files[n], &bytes)?,
                        (other, _) => return Err(session.odd(&other)),
                    }
                }
            }
            thread::sleep(LOOK);
        }
        let [Some(client), Some(server)] = sides else {
            return Err(SshError::Interrupted);
        };
        Ok([client, server])
    }

    /// Nanoseconds to add to the times of each capture: the client's clock is the reference.
    fn shifts(&self, stop: &Stop) -> Result<[i64; 2], SshError> {
        let [client, server] = [self.client.clock(stop)?, self.server.clock(stop)?];
        Ok([0, client.offset_ns - server.offset_ns])
    }
}

/// What does not go over the line is an error of the other machine.
fn asked<T>(session: &Session, done: serde_json::Result<T>) -> Result<T, SshError> {
    done.map_err(|e| session.far(e.to_string()))
}

fn append(path: &Path, bytes: &[u8]) -> Result<(), SshError> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let kept = file.and_then(|mut file| file.write_all(bytes));
    let place = path.display().to_string();
    kept.map_err(|e| SshError::far(&place, format!("cannot keep a capture: {e}")))
}
