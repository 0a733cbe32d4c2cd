//! `-i`: live capture on the loopback interface, where the tests run as root.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use super::{command, tcplab};

/// Whether packet sockets are allowed here; the kernel decides, so it is asked.
fn allowed() -> bool {
    let run = tcplab(&["analyze", "--json", "-i", "lo", "--for", "1ms"]);
    match run.code {
        0 => true,
        code => {
            assert_eq!(code, 4, "{}", run.err);
            assert!(run.err.contains("CAP_NET_RAW"), "{}", run.err);
            eprintln!("skipped: live capture needs root or CAP_NET_RAW");
            false
        }
    }
}

/// One connection over loopback: `n` writes of 100 bytes, each read before the next.
fn talk(n: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    for _ in 0..n {
        client.write_all(&[7; 100]).unwrap();
        server.read_exact(&mut [0; 100]).unwrap();
    }
    address.port()
}

#[test]
fn a_signal_ends_a_live_capture_in_good_order() {
    if !allowed() {
        return;
    }
    let mut command = command(&["analyze", "--json", "-i", "lo"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It says so when it has begun.
    let mut line = String::new();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    err.read_line(&mut line).unwrap();
    assert!(line.contains("capturing from interface:lo"), "{line}");
    let port = talk(5);
    // The kernel hands over what it has within 100 ms; Ctrl-C ends the capture after that.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let capture = &document["captures"][0];
    assert_eq!(capture["file"], "interface:lo");
    let server = format!("127.0.0.1:{port}");
    let streams = capture["streams"].as_array().unwrap();
    let stream = streams
        .iter()
        .find(|s| s["server"] == server.as_str())
        .unwrap();
    // Each packet once, though loopback shows it going out and coming in.
    assert_eq!(stream["client_to_server"]["data_segments"], 5);
    assert_eq!(stream["client_to_server"]["retransmissions"]["total"], 0);
}

#[test]
fn missing_interface_error_lists_the_existing_ones() {
    let run = tcplab(&["analyze", "-i", "nosuch0", "--for", "1s"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("nosuch0") && run.err.contains("lo"),
        "{}",
        run.err
    );
}
