//! The kernels that are built on this machine are what their manifests say, and boot.
//!
//! Nothing is built here, unless TCPLAB_KERNEL_BUILD=1: then Linux 6.1 and one edit on top are
//! (about 6 CPU minutes, once). They are ignored unless asked for; `make test` asks where kernels are built.

use std::path::Path;
use std::process::{Command, Stdio};

use tcplab_guest::build::{Origin, Request, build};
use tcplab_guest::edit::{Edit, Edits};
use tcplab_guest::store::{Store, UmlKernel};

/// All kernels of the user's store.
fn kernels(test: &str) -> Vec<UmlKernel> {
    let store = Store::of_user().unwrap();
    if std::env::var_os("TCPLAB_KERNEL_BUILD").is_some_and(|v| v == "1") {
        for edits in [vec![], vec![Edit::load("mss-boundary").unwrap()]] {
            let request = Request {
                origin: Origin::Package("6.1".into()),
                edits: Edits::new(edits).unwrap(),
                hz: 250,
                name: None,
                jobs: std::thread::available_parallelism().map_or(1, Into::into),
                install: false,
            };
            let built = build(&store, &request, &mut |_| ()).unwrap();
            assert!(built.kernel.path.is_file());
            // A second build of the same kernel finds the first, in any case.
            assert!(build(&store, &request, &mut |_| ()).unwrap().was_there);
        }
    }
    let kernels = store.list().unwrap();
    assert!(
        !kernels.is_empty(),
        "{test}: no kernel is built (tcplab kernel build 6.1)"
    );
    kernels
}

/// What a kernel prints when it is asked about itself.
fn ask(kernel: &Path, option: &str) -> String {
    let output = Command::new(kernel)
        .arg(option)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn kernels_are_what_their_manifests_say() {
    for kernel in kernels("kernels_are_what_their_manifests_say") {
        let manifest = &kernel.manifest;
        assert_eq!(ask(&kernel.path, "--version").trim(), manifest.version);
        let config = ask(&kernel.path, "--showconfig");
        let has = |line: &str| config.lines().any(|l| l == line);
        assert!(
            has(&format!("CONFIG_HZ={}", manifest.hz)),
            "{:?}",
            manifest.names
        );
        for symbol in [
            "UML_TIME_TRAVEL_SUPPORT",
            "TCP_CONG_BBR",
            "TCP_CONG_DCTCP",
            "NET_SCH_CAKE",
        ] {
            assert!(
                has(&format!("CONFIG_{symbol}=y")),
                "{:?}: {symbol}",
                manifest.names
            );
        }
        assert_eq!(kernel.path.metadata().unwrap().len(), manifest.binary_bytes);
    }
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn kernels_boot_and_virtual_time_repeats() {
    for kernel in kernels("kernels_boot_and_virtual_time_repeats") {
        let consoles = [boot(&kernel.path), boot(&kernel.path)];
        let [first, second] = &consoles;
        assert!(
            first.contains("No working init found"),
            "{:?}: {first}",
            kernel.manifest.names
        );
        // Only the times: the size of the memory varies with the program's place in the host's.
        let stamped = |text: &str| {
            let times = text
                .lines()
                .filter_map(|l| l.strip_prefix('[')?.split_once(']'));
            times.map(|(time, _)| time.to_owned()).collect::<Vec<_>>()
        };
        assert!(stamped(first).len() > 20, "{first}");
        assert_eq!(
            stamped(first),
            stamped(second),
            "{:?}",
            kernel.manifest.names
        );
    }
}

/// The console of a boot that finds no init.
fn boot(kernel: &Path) -> String {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    // To a file: a pipe's readiness signals reach the guest as interrupts.
    let path = folder.path().join("console");
    let console = std::fs::File::create(&path).unwrap();
    let status = Command::new("timeout")
        .arg("60")
        .arg(kernel)
        .args(["mem=32M", "con=null", "con0=fd:0,fd:1", "panic=-1"])
        .args([
            "time-travel=inf-cpu",
            "time-travel-start=1700000000000000000",
        ])
        .arg(format!("uml_dir={}", folder.path().display()))
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("TMPDIR", "/dev/shm")
        .env("TCPLAB_SEED", "1")
        .stdin(Stdio::null())
        .stdout(console)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_ne!(status.code(), Some(124), "it hangs");
    std::fs::read_to_string(path).unwrap()
}
