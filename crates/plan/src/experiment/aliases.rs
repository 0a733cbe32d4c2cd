//! Words of other tools and of everyday speech, and the words of ours that they mean: for suggestions alone, no file may use
//! them. Letters count as small, `-` as `_`.
//!
//! From netem and tc(8), iperf, flent, netperf, mahimahi, ns-3, dummynet.

/// A word of others, and ours: of several, those are suggested that are known at the place.
const WORDS: &[(&str, &[&str])] = &[
    // Links.
    ("bandwidth", &["rate"]),
    ("bw", &["rate"]),
    ("bitrate", &["rate"]),
    ("capacity", &["rate"]),
    ("data_rate", &["rate"]),
    ("datarate", &["rate"]),
    ("speed", &["rate"]),
    ("throughput", &["rate"]),
    ("latency", &["delay"]),
    ("rtt", &["delay"]),
    ("owd", &["delay"]),
    ("lag", &["delay"]),
    ("propagation", &["delay"]),
    ("variation", &["jitter"]),
    ("delay_jitter", &["jitter"]),
    ("queue", &["limit", "qdisc"]),
    ("buffer", &["limit", "limit_bytes"]),
    ("buffer_size", &["limit", "limit_bytes"]),
    ("queue_len", &["limit"]),
    ("queue_length", &["limit"]),
    ("queue_size", &["limit", "limit_bytes"]),
    ("queue_bytes", &["limit_bytes"]),
    ("qlen", &["limit"]),
    ("txqueuelen", &["limit"]),
    ("aqm", &["qdisc"]),
    ("scheduler", &["qdisc"]),
    ("shaper", &["qdisc"]),
    ("tc", &["qdisc"]),
    ("drop_rate", &["loss"]),
    ("drops", &["loss", "drop"]),
    ("loss_rate", &["loss"]),
    ("packet_loss", &["loss"]),
    ("plr", &["loss"]),
    ("corrupt", &["corruption"]),
    ("duplicates", &["duplication", "duplicate"]),
    ("reorder", &["reordering"]),
    ("gemodel", &["burst_loss"]),
    ("down", &["b_to_a"]),
    ("downlink", &["b_to_a"]),
    ("up", &["a_to_b"]),
    ("uplink", &["a_to_b"]),
    ("ends", &["between"]),
    ("endpoints", &["between"]),
    ("nodes", &["between", "host"]),
    // Hosts and sockets.
    ("ca", &["congestion"]),
    ("cc", &["congestion"]),
    ("cca", &["congestion"]),
    ("cong", &["congestion"]),
    ("congestion_control", &["congestion"]),
    ("tcp_cc", &["congestion"]),
    ("tcp_congestion_control", &["congestion"]),
    ("mss", &["maxseg"]),
    ("set_mss", &["maxseg"]),
    ("so_rcvbuf", &["rcvbuf"]),
    ("so_sndbuf", &["sndbuf"]),
    ("window", &["rcvbuf", "sndbuf"]),
    ("no_delay", &["nodelay"]),
    ("tcp_nodelay", &["nodelay"]),
    ("dscp", &["tos"]),
    ("affinity", &["cpu"]),
    ("gro", &["offload"]),
    ("gso", &["offload"]),
    ("tso", &["offload"]),
    ("router", &["forward"]),
    ("sysctls", &["sysctl"]),
    ("kernel", &["profile", "stacks"]),
    // Applications.
    ("bytes", &["size"]),
    ("filesize", &["bytes"]),
    ("num", &["bytes"]),
    ("len", &["chunk", "size"]),
    ("length", &["duration", "size", "chunk"]),
    ("time", &["duration", "max"]),
    ("runtime", &["duration", "max"]),
    ("timeout", &["client_timeout", "max"]),
    ("begin", &["start"]),
    ("interval", &["every"]),
    ("period", &["every"]),
    ("think", &["pause"]),
    ("think_time", &["pause", "think"]),
    ("conns", &["connections"]),
    ("clients", &["connections"]),
    ("flows", &["connections"]),
    ("parallel", &["connections"]),
    ("streams", &["connections"]),
    ("threads", &["connections"]),
    ("dest", &["server"]),
    ("destination", &["server"]),
    ("dst", &["server"]),
    ("receiver", &["server"]),
    ("to", &["server"]),
    ("from", &["client"]),
    ("sender", &["client"]),
    ("source", &["client"]),
    ("src", &["client"]),
    ("type", &["kind"]),
    ("direction", &["reverse"]),
    // Kinds of applications.
    ("download", &["bulk"]),
    ("ftp", &["bulk"]),
    ("iperf", &["bulk"]),
    ("iperf2", &["bulk"]),
    ("iperf3", &["bulk"]),
    ("maerts", &["bulk"]),
    ("netperf", &["bulk", "request-response"]),
    ("tcp_maerts", &["bulk"]),
    ("tcp_stream", &["bulk"]),
    ("upload", &["bulk"]),
    ("tcp_rr", &["request-response"]),
    ("rr", &["request-response"]),
    ("tcp_crr", &["connect-request-response"]),
    ("crr", &["connect-request-response"]),
    ("http", &["web"]),
    ("curl", &["web"]),
    ("irtt", &["udp-ping"]),
    ("flent", &["rrul"]),
    // The file.
    ("application", &["app"]),
    ("applications", &["app"]),
    ("apps", &["app"]),
    ("flow", &["app"]),
    ("traffic", &["app"]),
    ("workload", &["app"]),
    ("hosts", &["host"]),
    ("machine", &["host"]),
    ("node", &["host"]),
    ("links", &["link"]),
    ("network", &["link"]),
    ("path", &["link"]),
    ("pipe", &["link"]),
    ("iterations", &["repeat"]),
    ("repeats", &["repeat"]),
    ("repetitions", &["repeat"]),
    ("runs", &["repeat"]),
    ("trials", &["repeat"]),
    ("on", &["stacks"]),
    ("stack", &["stacks"]),
    ("random_seed", &["seed"]),
    ("pcap", &["captures"]),
    ("metrics", &["measures"]),
    ("output", &["measures"]),
    ("plot", &["report"]),
];

/// The known words that a word of others means.
pub(crate) fn of<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    let plain = word.to_lowercase().replace('-', "_");
    let meant = WORDS.iter().find(|(other, _)| *other == plain);
    let ours = meant.map_or(&[][..], |(_, ours)| ours);
    let is_meant = |ours: &&str| known.iter().copied().find(|k| k == ours);
    ours.iter().filter_map(is_meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::keys;

    #[test]
    fn every_alias_is_unique_and_means_an_existing_word() {
        let mut all: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
        let kinds = keys::KINDS.iter();
        let mut known: Vec<&str> = kinds.clone().map(|(kind, ..)| *kind).collect();
        let lists = [
            keys::FILE,
            keys::RUN,
            keys::HOST,
            keys::SOCKET,
            keys::LINK,
            keys::WAY,
            keys::APP,
        ];
        let lists = lists.into_iter().chain(kinds.map(|(.., keys)| *keys));
        known.extend(lists.flatten().map(|key| key.name));
        for (word, ours) in WORDS {
            for ours in *ours {
                assert!(known.contains(ours), "{word}: {ours}");
            }
        }
    }
}
