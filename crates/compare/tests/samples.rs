//! Outputs of tools (tests/compare/samples), each told by its content and read: metrics with unit and direction, counts.

use std::path::Path;

use tcplab_compare::import::{Format, Input, read};
use tcplab_compare::{Arm, Better, RemarkKind, Role, TestResult};

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compare/samples");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn arm(name: &str, format: Format) -> Arm {
    let text = sample(name);
    assert_eq!(Format::of(&text), Some(format), "{name}");
    let document = read(&Input { name, text: &text }, None).unwrap();
    document.arms.into_iter().next().unwrap()
}

/// A metric's only value.
fn value(arm: &Arm, name: &str, role: Role, unit: &str, better: Better) -> f64 {
    let found = arm
        .metrics
        .iter()
        .find(|m| m.name == name && m.role == role);
    let metric = found.unwrap_or_else(|| panic!("{name} {role:?}: {:#?}", arm.metrics));
    assert_eq!(
        (metric.unit.as_str(), metric.better),
        (unit, better),
        "{name}"
    );
    assert_eq!(metric.runs.len(), 1, "{name}");
    metric.runs[0].value.unwrap()
}

use Better::{Higher, Lower};
use Role::{Client, None as Nowhere, Server};

#[test]
fn iperf3() {
    let tcp = arm("iperf3-tcp.json", Format::Iperf3);
    let sent = value(&tcp, "TCP throughput 128 KiB", Client, "bit/s", Higher);
    let received = value(&tcp, "TCP throughput 128 KiB", Server, "bit/s", Higher);
    assert!(sent > received && received > 1e9);
    assert_eq!(
        value(&tcp, "TCP mean RTT 128 KiB", Nowhere, "us", Lower),
        66.0
    );
    assert_eq!(tcp.sources[0].tool, "iperf 3.12");
    assert!(tcp.metrics[0].runs[0].began_s.is_some());
    let stream = arm("iperf3-stream.json", Format::Iperf3);
    assert_eq!(
        value(&stream, "TCP throughput 128 KiB", Client, "bit/s", Higher),
        sent
    );
    let udp = arm("iperf3-udp.json", Format::Iperf3);
    assert_eq!(value(&udp, "UDP loss 32 KiB", Nowhere, "%", Lower), 0.0);
    assert!(value(&udp, "UDP jitter 32 KiB", Nowhere, "ms", Lower) > 0.0);
    let both = arm("iperf3-bidir.json", Format::Iperf3);
    value(
        &both,
        "TCP throughput back 128 KiB 2 streams",
        Server,
        "bit/s",
        Higher,
    );
    let error = arm("iperf3-error.json", Format::Iperf3);
    assert_eq!(error.remarks[0].kind, RemarkKind::Failed);
    assert!(error.remarks[0].text.contains("refused") && error.metrics.is_empty());
}

#[test]
fn iperf3_several_in_one_file() {
    let sample = sample("iperf3-tcp.json");
    let later = |s: u32| sample.replacen("\"timesecs\": ", &format!("\"timesecs\": {s}"), 1);
    // The last one is a copy of the first.
    let text = [sample.clone(), later(2), later(3), sample.clone()].concat();
    let name = "log";
    let document = read(&Input { name, text: &text }, None).unwrap();
    let arm = &document.arms[0];
    assert_eq!(arm.metrics[0].runs.len(), 3);
    let remark = &arm.remarks[0];
    assert_eq!(
        (remark.place.as_str(), remark.text.as_str()),
        ("log: document 4", "left out, a copy of document 1")
    );
}

#[test]
fn netperf() {
    let stream = arm("netperf-tcp-stream.txt", Format::Netperf);
    assert_eq!(
        value(&stream, "TCP_STREAM 16 KiB", Nowhere, "10^6bits/s", Higher),
        11694.03
    );
    let udp = arm("netperf-udp-stream.txt", Format::Netperf);
    assert_eq!(
        value(&udp, "UDP_STREAM 65507 B", Client, "10^6bits/s", Higher),
        45975.88
    );
    assert_eq!(
        value(&udp, "UDP_STREAM 65507 B", Server, "10^6bits/s", Higher),
        26314.15
    );
    let rr = arm("netperf-tcp-rr.txt", Format::Netperf);
    assert_eq!(value(&rr, "TCP_RR 1/1 B", Nowhere, "1/s", Higher), 67592.59);
    let crr = arm("netperf-tcp-crr.txt", Format::Netperf);
    assert_eq!(
        value(&crr, "TCP_CRR 1/1 B", Nowhere, "1/s", Higher),
        16259.17
    );
    let cpu = arm("netperf-cpu.txt", Format::Netperf);
    assert_eq!(
        value(&cpu, "TCP_STREAM 16 KiB", Nowhere, "10^6bits/s", Higher),
        17399.99
    );
    let wide = arm("netperf-confidence.txt", Format::Netperf);
    assert!(
        wide.remarks[0].text.contains("732.939%"),
        "{:?}",
        wide.remarks
    );
    let omni = arm("netperf-omni.csv", Format::NetperfOmni);
    assert_eq!(
        value(&omni, "TCP_STREAM 16 KiB", Nowhere, "10^6bits/s", Higher),
        12901.24
    );
    assert_eq!(
        value(&omni, "TCP_STREAM 16 KiB latency p99", Nowhere, "us", Lower),
        65.0
    );
    let keys = arm("netperf-keys.txt", Format::NetperfOmni);
    assert_eq!(value(&keys, "TCP_RR", Nowhere, "1/s", Higher), 66565.35);
    assert_eq!(
        value(&keys, "TCP_RR latency mean", Nowhere, "us", Lower),
        14.98
    );
}

/// Columns for the processors follow the rate.
#[test]
fn netperf_udp_with_cpu() {
    let text = |server: &str| {
        format!(
            "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to b () port 0 AF_INET : demo\n\
             Socket  Message  Elapsed      Messages                   CPU      Service\n\
             Size    Size     Time         Okay Errors   Throughput   Util     Demand\n\
             bytes   bytes    secs            #      #   10^6bits/sec % SS     us/KB\n\n\
             212992   65507   10.00      500000      0    26000.0     50.00    2.000\n\
             212992           10.00      400000           {server}\n"
        )
    };
    let name = "udp.txt";
    let read = |text: &str| read(&Input { name, text }, None);
    let arm = read(&text("20800.0     50.00    2.000"))
        .unwrap()
        .arms
        .remove(0);
    assert_eq!(arm.metrics.len(), 2);
    let udp = |role| value(&arm, "UDP_STREAM 65507 B", role, "10^6bits/s", Higher);
    assert_eq!((udp(Client), udp(Server)), (26000.0, 20800.0));
    // A script numbers its runs.
    let numbered = read(&format!("1\n{}2\n", text("20800.0     50.00    2.000")));
    assert_eq!(numbered.unwrap().arms.remove(0).metrics.len(), 2);
    let told = read(&text("20800.0")).unwrap_err().to_string();
    assert!(
        told.starts_with("udp.txt: line 7: ") && told.contains("4 figures"),
        "{told}"
    );
}

#[test]
fn web_servers() {
    let ab = arm("ab.txt", Format::Ab);
    assert_eq!(
        value(&ab, "ab /a.bin requests", Nowhere, "1/s", Higher),
        473.83
    );
    assert_eq!(
        value(&ab, "ab /a.bin time per request", Nowhere, "ms", Lower),
        8.442
    );
    assert_eq!(
        value(&ab, "ab /a.bin latency p99", Nowhere, "ms", Lower),
        21.0
    );
    // Nothing but errors: the rate does not count, the errors do.
    let counts = |arm: &Arm, name: &str| {
        let metric = arm.metrics.iter().find(|m| m.name == name).unwrap();
        metric.runs[0].counts().is_some()
    };
    let errors = arm("ab-errors.txt", Format::Ab);
    let which = |end: &str| {
        errors
            .metrics
            .iter()
            .find(|m| m.name.ends_with(end))
            .unwrap()
            .name
            .clone()
    };
    assert!(!counts(&errors, &which("time per request")));
    assert!(counts(&errors, &which("non-2xx responses")));
    assert_eq!(
        value(&ab, "ab /a.bin non-2xx responses", Nowhere, "", Lower),
        0.0,
        "ab prints the line only if there are some"
    );
    let wrk = arm("wrk.txt", Format::Wrk);
    assert_eq!(value(&wrk, "wrk requests", Nowhere, "1/s", Higher), 1183.93);
    assert_eq!(value(&wrk, "wrk latency p99", Nowhere, "ms", Lower), 12.46);
    assert_eq!(value(&wrk, "wrk socket errors", Nowhere, "", Lower), 0.0);
    let errors = arm("wrk-errors.txt", Format::Wrk);
    assert!(!counts(&errors, "wrk requests"));
    assert!(counts(&errors, "wrk non-2xx or 3xx responses"));
    let wrk2 = arm("wrk2.txt", Format::Wrk);
    assert_eq!(
        value(&wrk2, "wrk latency p99.9", Nowhere, "ms", Lower),
        1020.0
    );
    assert_eq!(value(&wrk2, "wrk socket errors", Nowhere, "", Lower), 3.0);
    let fortio = arm("fortio.json", Format::Fortio);
    assert_eq!(
        value(&fortio, "fortio requests", Nowhere, "1/s", Higher),
        998.25
    );
    assert!((value(&fortio, "fortio latency p99.9", Nowhere, "ms", Lower) - 3.1).abs() < 1e-9);
    assert_eq!(
        value(&fortio, "fortio errors", Nowhere, "answers", Lower),
        10.0
    );
}

/// Errors of one report do not hide those of another, and belong to it alone.
#[test]
fn reports_of_one_file_are_runs() {
    let read = |text: &str, format| {
        assert_eq!(Format::of(text), Some(format));
        let input = Input { name: "log", text };
        read(&input, None).unwrap().arms.remove(0)
    };
    let runs = |arm: &Arm, name: &str| -> Vec<Option<f64>> {
        let metric = arm.metrics.iter().find(|m| m.name == name).unwrap();
        metric
            .runs
            .iter()
            .map(tcplab_compare::Run::counts)
            .collect()
    };
    let (bad, good) = (sample("wrk-errors.txt"), sample("wrk.txt"));
    let errors = "wrk non-2xx or 3xx responses";
    let [of_bad] = runs(&read(&bad, Format::Wrk), errors)[..] else {
        panic!("one run");
    };
    let arm = read(&[bad.clone(), good.clone()].concat(), Format::Wrk);
    assert_eq!(runs(&arm, errors), [of_bad, Some(0.0)]);
    assert_eq!(runs(&arm, "wrk requests"), [None, Some(1183.93)]);
    let arm = read(&[good, bad].concat(), Format::Wrk);
    assert_eq!(runs(&arm, errors), [Some(0.0), of_bad]);
    assert_eq!(runs(&arm, "wrk requests"), [Some(1183.93), None]);
    let (bad, good) = (sample("ab-errors.txt"), sample("ab.txt"));
    let all = [good.clone(), bad, good].concat();
    let arm = read(&all, Format::Ab);
    assert_eq!(runs(&arm, "ab /a.bin non-2xx responses"), [Some(0.0); 2]);
    assert_eq!(runs(&arm, "ab /a.bin requests"), [Some(473.83); 2]);
    assert_eq!(runs(&arm, "ab /none requests"), [None]);
    // ab that could not connect prints its banner only.
    let banner = "This is ApacheBench, Version 2.3 <$Revision$>\n";
    let arm = read(&[&all, banner].concat(), Format::Ab);
    assert_eq!(arm.remarks[0].kind, RemarkKind::Failed);
    assert!(arm.remarks[0].place.starts_with("log: line "));
}

#[test]
fn lmbench_and_nstat() {
    let lmbench = arm("lmbench.txt", Format::Lmbench);
    assert_eq!(
        value(
            &lmbench,
            "TCP latency using localhost",
            Nowhere,
            "us",
            Lower
        ),
        15.77
    );
    assert_eq!(
        value(&lmbench, "Pipe bandwidth", Nowhere, "MB/s", Higher),
        884.89
    );
    let name = "Socket bandwidth using localhost 64 KiB";
    assert_eq!(value(&lmbench, name, Nowhere, "MB/s", Higher), 2240.32);
    for name in ["nstat.txt", "nstat.json"] {
        let nstat = arm(name, Format::Nstat);
        assert_eq!(value(&nstat, "TcpRetransSegs", Nowhere, "", Lower), 7.0);
        assert_eq!(
            value(&nstat, "TcpExtDelayedACKs", Nowhere, "", Better::Neither),
            812.0
        );
    }
}

#[test]
fn tests_are_counted() {
    let counted = |name: &str, format: Format| {
        let arm = arm(name, format);
        let count = arm.counts[0].clone();
        (
            count.name,
            count.passed,
            count.failed,
            count.skipped,
            count.tests,
        )
    };
    let (name, passed, failed, skipped, tests) = counted("kirk.json", Format::Kirk);
    assert_eq!(
        (name.as_str(), passed, failed, skipped),
        ("ltp kirk", Some(8), Some(1), Some(1))
    );
    assert_eq!(tests["sendto03"], TestResult::Failed);
    assert_eq!(tests["bind06"], TestResult::Skipped);
    let (name, passed, failed, skipped, _) = counted("kirk.txt", Format::Ltp);
    assert_eq!(
        (name.as_str(), passed, failed, skipped),
        ("ltp net.tcp", Some(22), Some(2), Some(3))
    );
    let (_, passed, failed, skipped, tests) = counted("runltp.txt", Format::Ltp);
    assert_eq!(
        (passed, failed, skipped, tests.len()),
        (Some(1), Some(1), Some(1), 3)
    );
    let (_, passed, failed, skipped, tests) = counted("ktap.txt", Format::Ktap);
    assert_eq!((passed, failed, skipped), (Some(2), Some(1), Some(1)));
    assert_eq!(tests["sockets: ipv6 opens"], TestResult::Failed);
    let (_, passed, failed, _, tests) = counted("kselftest.txt", Format::Ktap);
    assert_eq!((passed, failed), (Some(2), Some(1)), "{tests:?}");
    let (_, passed, failed, _, tests) = counted("packetdrill.txt", Format::Packetdrill);
    assert_eq!((passed, failed), (Some(1), Some(2)));
    assert_eq!(tests["close/third.pkt (ipv6)"], TestResult::Failed);
}

#[test]
fn unknown_or_cut_file_says_so() {
    let error = |text: &str, format| {
        read(&Input { name: "f", text }, format)
            .unwrap_err()
            .to_string()
    };
    assert!(
        error("", None).contains("f: the file is empty"),
        "{}",
        error("", None)
    );
    let prose = error("once upon a time\n", None);
    assert!(
        prose.contains("line 1") && prose.contains("--format"),
        "{prose}"
    );
    let cut = &sample("iperf3-tcp.json")[..700];
    let cut = error(cut, Some(Format::Iperf3));
    assert!(cut.contains("line") && cut.contains("cut"), "{cut}");
    let cell = error("metric,better,value\nx,higher,fast\n", None);
    assert!(cell.contains("line 2") && cell.contains("`fast`"), "{cell}");
    let better = error("metric,better,value\nx,up,1\n", None);
    assert!(better.contains("higher, lower or neither"), "{better}");
}
