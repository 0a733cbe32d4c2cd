//! Interfaces and capture files of a point, by name.

use tcplab_plan::Point;

/// The interface of a host on its `n`-th link, counted in the order of the point's links.
pub(crate) fn interface(n: usize) -> String {
    format!("eth{n}")
}

/// The file of a capture.
pub fn capture_file(host: &str, interface: &str) -> String {
    format!("{host}.{interface}.pcapng")
}

/// All captures that a run of this point makes: host, interface, file.
pub fn capture_files(point: &Point) -> Vec<(usize, String, String)> {
    let mut files = Vec::new();
    for (index, host) in point.hosts.iter().enumerate() {
        let links = point
            .links
            .iter()
            .filter(|l| l.a == index || l.b == index)
            .count();
        let mut names: Vec<String> = (0..links).map(interface).collect();
        if point
            .apps
            .iter()
            .any(|a| a.client == index && a.server == index)
        {
            names.push("lo".into());
        }
        for name in names {
            let file = capture_file(&host.name, &name);
            files.push((index, name, file));
        }
    }
    files
}
