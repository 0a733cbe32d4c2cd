//! TLS 1.3 by rustls with ring: a certificate that is made for the run, and a client that takes any.

use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::NoServerSessionStorage;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig,
    ServerConnection, SignatureScheme,
};

/// A key (ECDSA, P-256) and its certificate, signed by itself.
pub(super) struct Identity {
    certified: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Identity {
    pub(super) fn make() -> io::Result<Self> {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certified = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        Ok(Self { certified })
    }

    /// Certificate and key as PEM (RFC 7468).
    pub(super) fn pem(&self) -> [String; 2] {
        let Self { certified } = self;
        [certified.cert.pem(), certified.signing_key.serialize_pem()]
    }

    /// What our server needs.
    pub(super) fn server(&self, resume: bool) -> io::Result<Arc<ServerConfig>> {
        let Self { certified } = self;
        let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der());
        let key = key.map_err(io::Error::other)?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .and_then(|builder| {
                let chain = vec![certified.cert.der().clone()];
                builder.with_no_client_auth().with_single_cert(chain, key)
            });
        let mut config = config.map_err(io::Error::other)?;
        if !resume {
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(Arc::new(config))
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A server's side of a connection.
pub(super) fn accepted(config: &Arc<ServerConfig>) -> io::Result<Connection> {
    let connection = ServerConnection::new(Arc::clone(config));
    Ok(connection.map_err(io::Error::other)?.into())
}

/// The client's settings and the name that it asks for.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Asker {
    pub(super) fn new(resume: bool) -> io::Result<Self> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13]);
        let mut config = config
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anybody))
            .with_no_client_auth();
        if !resume {
            config.resumption = Resumption::disabled();
        }
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        Ok(Self {
            config: Arc::new(config),
            name,
        })
    }

    /// The client's side of a connection.
    pub(super) fn begin(&self) -> io::Result<Connection> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        Ok(connection.map_err(io::Error::other)?.into())
    }
}

/// Checks nothing: the server is our own or nginx with a key that was made a moment ago, and checking a signature takes
/// the client longer than making it takes the server, which is measured. The bytes on the wire are the same.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not spoken here".into()))
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
