"""Runs the experiments of docs/gallery.md and draws their pictures: `make gallery`.

Each entry below is a command, a picture made of its JSON, and a paragraph with its figures. The page and docs/gallery/*.svg are written
whole. The model and kernels in virtual time give the same bytes each time, so nothing changes unless a result does.
"""

import html
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import altair as alt
import vl_convert

ROOT = Path(__file__).resolve().parent.parent
TCPLAB = ROOT / "target/release/tcplab"
FOLDER = ROOT / "docs/gallery"

# Colours that stand out on white and on black; text and lines are replaced by variables of the picture.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#4c86cf", "#e0762f", "#4ea36f", "#a06cc8", "#8a919c"
INK, GRID = "#1c1e21", "#d5d9e0"
STYLE = (
    "<style>svg { color-scheme: light dark; --ink: #1c1e21; --grid: #d5d9e0; }"
    f' [fill="{INK}"] {{ fill: var(--ink); }} [stroke="{INK}"] {{ stroke: var(--ink); }} [stroke="{GRID}"] {{ stroke: var(--grid); }}'
    " @media (prefers-color-scheme: dark) { svg { --ink: #e6e8eb; --grid: #3a404a; } }</style>"
)
WIDTH, HEIGHT = 480, 240


def run(command):
    """What the command prints with --json, read; one document, or a list of lines."""
    words = shlex.split(command)
    assert words[0] == "tcplab", command
    done = subprocess.run([TCPLAB, *words[1:], "--json"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {command} ended with exit code {done.returncode}:\n{done.stderr.strip()}\nThe pictures before it are written; mend this and run make gallery again.")
    if "--acks" in words:
        return [json.loads(line) for line in done.stdout.splitlines()]
    return json.loads(done.stdout)


def chart(rows, **options):
    return alt.Chart(alt.Data(values=rows), width=options.get("width", WIDTH), height=options.get("height", HEIGHT))


def axis(title, **more):
    return alt.Axis(title=title, **more)


def colour(names, colours, title=None):
    return alt.Color("name:N", scale=alt.Scale(domain=names, range=colours[: len(names)]), legend=alt.Legend(title=title, orient="top"))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by(points, *keys):
    """The points in groups of equal axes, in the order in which they come."""
    groups = {}
    for point in points:
        groups.setdefault(tuple(point["axes"].get(key) for key in keys), []).append(point)
    return groups


def series(point, end, column):
    columns = point["columns"]["tcp_info_series"]
    for time, values in point["flows"][0][end]["tcp_info_series"]:
        yield time / 1e9, values[columns.index(column) - 1]


def forty_milliseconds(acks):
    rows = [
        {"n": n, "ms": ack["wait_us"] / 1000, "name": "at once" if ack["class"] == "immediate" else "delayed"}
        for n, ack in enumerate((ack for ack in acks if ack["from"] == "server"), 1)
    ]
    late = [row["ms"] for row in rows if row["name"] == "delayed"]
    picture = chart(rows).mark_point(filled=True, size=60, opacity=1).encode(
        x=alt.X("n:Q", axis=axis("ACK of the server")),
        y=alt.Y("ms:Q", scale=alt.Scale(type="log", domain=[1, 100]), axis=axis("wait (ms, log scale)", values=[1, 2, 5, 10, 20, 40, 100])),
        color=colour(["at once", "delayed"], [GREEN, ORANGE]),
        shape=alt.Shape("name:N", legend=None),
    )
    return picture, (
        f"{len(rows) - len(late)} ACKs arrive about 2 ms after their data. "
        f"The other {len(late)} ACKs arrive {min(late):.1f} to {max(late):.1f} ms after their data: Nagle's algorithm holds the second part of a request until the ACK of the first, which the server delays."
    )


def who_delays(run):
    rows = [{"stack": p["stack"], "late": p["measures"]["client.acks.delayed"], "first": p["measures"].get("client.acks.first_delayed_segment")} for p in run["points"]]
    for row in rows:
        row["text"] = "none" if not row["first"] else f"from segment {row['first']:.0f}"
        row["name"] = "kernel" if row["stack"].startswith("uml") else "model"
    y = alt.Y("stack:N", sort=[row["stack"] for row in rows], axis=axis(None, labelLimit=220))
    x = alt.X("late:Q", axis=axis("delayed ACKs of 100"), scale=alt.Scale(domain=[0, 140]))
    bars = chart(rows).mark_bar().encode(x=x, y=y, color=colour(["model", "kernel"], [BLUE, ORANGE]))
    text = chart(rows).mark_text(align="left", dx=5, color=INK).encode(x=x, y=y, text="text:N")
    said = {row["stack"]: row for row in rows}
    same = all(said[f"uml:{a}"]["late"] == said[f"model:linux-{b}"]["late"] for a, b in (("6.1", "6.1"), ("6.1+quickack-6.1.56", "6.1.56")))
    return bars + text, (
        f"A server writes 1 kB every 100 ms to a client that only reads. The client sends 100 ACKs. Linux 6.1 delays none of them. Linux 6.1.56 delays {said['model:linux-6.1.56']['late']:.0f}, "
        f"from segment {said['model:linux-6.1.56']['first']:.0f} on, when its quick-ACK credits are used up. FreeBSD 13.2 delays all. "
        + ("The two kernels delay as many ACKs as the model." if same else "Model and kernel differ here.")
    )


def loss(run):
    rows = []
    for (loss, variant), points in by(run["points"], "link.client-server.loss", "variant").items():
        values = sorted(p["measures"]["bulk.goodput_bps"] / 1e6 for p in points)
        rows.append({"loss": loss, "name": variant, "mbit": mean(values), "low": values[0], "high": values[-1]})
    order = list(dict.fromkeys(row["loss"] for row in rows))
    x = alt.X("loss:N", sort=order, axis=axis("loss of frames, each way", labelAngle=0))
    base = chart(rows).encode(x=x, color=colour(["cubic", "bbr"], [BLUE, ORANGE]))
    y = alt.Y("mbit:Q", axis=axis("goodput (Mbit/s)"), scale=alt.Scale(domain=[0, 50]))
    picture = base.mark_line().encode(y=y) + base.mark_point(filled=True, size=50, opacity=1).encode(y=y) + base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q")
    at = {(row["name"], row["loss"]): row["mbit"] for row in rows}
    return picture, (
        f"A line of 50 Mbit/s, round trip 40 ms; means of 10 runs; bars from the slowest run to the fastest. At 0.01 % loss, CUBIC reaches a goodput of {at['cubic', '0.01%']:.1f} Mbit/s, BBR {at['bbr', '0.01%']:.1f} Mbit/s. "
        f"At 1 % loss, CUBIC reaches {at['cubic', '1%']:.1f} Mbit/s, BBR {at['bbr', '1%']:.1f} Mbit/s: CUBIC treats each loss as congestion."
    )


def sawtooth(run):
    rows = [{"s": s, "cwnd": cwnd, "name": p["axes"]["variant"]} for p in run["points"] for s, cwnd in series(p, "client", "tcpi_snd_cwnd")]
    picture = chart(rows).mark_line(strokeWidth=1.5).encode(
        x=alt.X("s:Q", axis=axis("time (s)")), y=alt.Y("cwnd:Q", axis=axis("congestion window (packets)")), color=colour(["reno", "cubic"], [BLUE, ORANGE])
    )
    lost = {p["axes"]["variant"]: p["measures"]["client.TcpRetransSegs"] for p in run["points"]}
    rate = {p["axes"]["variant"]: p["measures"]["bulk.goodput_bps"] / 1e6 for p in run["points"]}
    return picture, (
        "A line of 20 Mbit/s with a queue of 130 packets. Reno's and CUBIC's windows grow until the queue drops a packet. Reno then halves its window and adds a packet each round trip; "
        f"CUBIC cuts its window less, and the window then grows along a cubic curve. Reno: goodput {rate['reno']:.1f} Mbit/s, {lost['reno']:.0f} segments retransmitted. CUBIC: {rate['cubic']:.1f} Mbit/s, {lost['cubic']:.0f} segments."
    )


def words(text, key):
    return re.search(rf"{key} (\S+)", text)[1].replace("bit", "bit/s").replace("m", " M", 1).replace("k", " k", 1)


def ack_filter(run):
    goodput = {}
    for point in run["points"]:
        axes = point["axes"]
        goodput.setdefault((words(axes["down rate"], "bandwidth"), words(axes["up rate"], "bandwidth")), {})[axes["variant"]] = point["measures"]["down.goodput_bps"]
    rows = [{"down": down, "up": up, "gain": 100 * (arms["conservative"] / arms["none"] - 1)} for (down, up), arms in goodput.items()]
    for row in rows:
        row["text"] = f"{row['gain']:+.0f} %" if abs(row["gain"]) >= 0.5 else "0 %"
    downs, ups = list(dict.fromkeys(r["down"] for r in rows)), list(dict.fromkeys(r["up"] for r in rows))
    x, y = alt.X("up:N", sort=ups, axis=axis("upstream rate", labelAngle=0)), alt.Y("down:N", sort=downs[::-1], axis=axis("downstream rate"))
    boxes = chart(rows).mark_rect(stroke=GRID).encode(x=x, y=y, color=alt.Color("gain:Q", scale=alt.Scale(domain=[-40, 0, 100], range=["#6f9fe0", "#eef1f5", ORANGE], interpolate="rgb", clamp=True), legend=None))
    # Always dark: the boxes are light in both modes.
    text = chart(rows).mark_text(fontSize=13, color="#101214").encode(x=x, y=y, text="text:N")
    best = max(rows, key=lambda row: row["gain"])
    worst = min(rows, key=lambda row: row["gain"])
    return boxes + text, (
        f"Four downloads and an upload through CAKE, with `ack-filter` and without. The filter raises the downloads' goodput most at {best['down']} down and {best['up']} up ({best['gain']:+.0f} %). "
        f"It lowers their goodput most at {worst['down']} down and {worst['up']} up ({worst['gain']:+.0f} %)."
    )


def rrul(run):
    rows = []
    said = {}
    names = {"fifo": "FIFO", "besteffort": "CAKE", "diffserv4": "CAKE diffserv4"}
    for (variant,), points in by(run["points"], "variant").items():
        if variant not in names:
            continue
        for key, part in (("rrul.Ping (ms) ICMP.median", "median of ICMP"), ("rrul.Ping (ms) avg.p99", "99 % of all")):
            value = mean(p["measures"][key] for p in points)
            said[variant, part] = value
            rows.append({"queue": names[variant], "name": part, "ms": value, "text": f"{value:.0f}"})
    order = list(names.values())
    base = chart(rows, height=180).encode(
        y=alt.Y("queue:N", sort=order, axis=axis(None)), yOffset=alt.YOffset("name:N", sort=["median of ICMP", "99 % of all"]), x=alt.X("ms:Q", scale=alt.Scale(domainMax=800), axis=axis("ping under load (ms)"))
    )
    picture = base.mark_bar().encode(color=colour(["median of ICMP", "99 % of all"], [BLUE, ORANGE])) + base.mark_text(align="left", dx=4, color=INK).encode(text="text:N")
    return picture, (
        f"RRUL: four downloads, four uploads and pings on a line of 30/10 Mbit/s. With queues of 1,000 packets the median ping takes {said['fifo', 'median of ICMP']:.0f} ms, "
        f"with CAKE {said['besteffort', 'median of ICMP']:.0f} ms. Without load, a ping takes 50 ms."
    )


def incast(run):
    rows = [
        {"name": p["axes"]["variant"], "kb": p["measures"]["link.switch-sink.a_to_b.queue_mean_bytes"] / 1e3, "gbit": p["measures"]["flow.goodput_bps"] / 1e9}
        for p in run["points"]
    ]
    for row in rows:
        row["text"] = f"{row['kb']:,.0f} kB, {row['gbit']:.2f} Gbit/s"
    base = chart(rows, height=180).encode(
        y=alt.Y("name:N", sort=[r["name"] for r in rows], axis=axis(None)), x=alt.X("kb:Q", scale=alt.Scale(type="log", domain=[1, 100000]), axis=axis("mean queue of the switch (kB, log scale)", values=[1, 10, 100, 1000, 10000]))
    )
    picture = base.mark_bar(color=BLUE).encode(x2=alt.datum(1)) + base.mark_text(align="left", dx=5, color=INK).encode(text="text:N")
    at = {row["name"]: row for row in rows}
    return picture, (
        f"Two senders of 25 Gbit/s fill a switch's port of 10 Gbit/s. CUBIC keeps {at['cubic']['kb']:,.0f} kB in the port's queue, BBR {at['bbr']['kb']:.0f} kB, CAQM {at['caqm']['kb']:.0f} kB, "
        f"DCTCP {at['dctcp']['kb']:.0f} kB, each with a goodput of {min(at[k]['gbit'] for k in ('cubic', 'bbr', 'caqm', 'dctcp')):.1f} Gbit/s. CAQM with Q_t = 0 keeps only {at['caqm-qt0']['kb']:.0f} kB, but its goodput is only {at['caqm-qt0']['gbit']:.1f} Gbit/s."
    )


def rto(run):
    names = {"D": "D: RFC 6298, floor 200 ms", "R": "R: RFC 6298, floor 1 s", "Y": "Y: 4 RTTVAR at least 200 ms", "Y4": "Y4: RTTVAR at least 200 ms"}
    rows = [
        {"arm": names[row["arm"]], "percent": row["percent"], "low": row["interval"][0], "high": row["interval"][1], "name": row["arm"]}
        for row in run["rows"] if row["id"] == "timeouts" and row["arm"] in names
    ]
    y = alt.Y("arm:N", sort=[r["arm"] for r in rows], axis=axis(None, labelLimit=260))
    base = chart(rows, height=160)
    picture = (
        base.mark_rule(strokeWidth=3, color=BLUE).encode(y=y, x=alt.X("low:Q", axis=axis("timeouts, change against Linux's estimator B (%)")), x2="high:Q")
        + base.mark_point(filled=True, size=70, color=ORANGE, opacity=1).encode(y=y, x="percent:Q")
        + chart([{"zero": 0}], height=160).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="zero:Q")
    )
    at = {row["name"]: row for row in rows}
    return picture, (
        f"{run['connections']:,} web connections, each run with five different retransmission timers on the same network. The baseline is Linux's timer (B). With RFC 6298's estimator and a floor of 200 ms (D), the number of timeouts changes by {at['D']['percent']:+.0f} % "
        f"({at['D']['low']:+.0f} to {at['D']['high']:+.0f}); with a floor of 1 s (R), it changes by {at['R']['percent']:+.0f} % ({at['R']['low']:+.0f} to {at['R']['high']:+.0f}). Bars: 95 % intervals."
    )


def spike(run):
    rows = []
    for point in run["points"]:
        variant = point["axes"]["variant"]
        if variant == "linux":
            rows += [{"s": s, "ms": us / 1000, "name": "RTT (smoothed)"} for s, us in series(point, "server", "tcpi_rtt")]
        rows += [{"s": s, "ms": us / 1000, "name": {"linux": "RTO of Linux", "rfc6298": "RTO of RFC 6298"}[variant]} for s, us in series(point, "server", "tcpi_rto")]
    names = ["RTT (smoothed)", "RTO of Linux", "RTO of RFC 6298"]
    picture = chart(rows).mark_line(strokeWidth=1.8).encode(x=alt.X("s:Q", axis=axis("time (s)")), y=alt.Y("ms:Q", axis=axis("ms")), color=colour(names, [GREEN, BLUE, ORANGE]))
    timeouts = {p["axes"]["variant"]: p["measures"]["server.TcpExtTCPTimeouts"] for p in run["points"]}
    return picture, (
        f"A server writes 1 kB every 20 ms. At 4 s, the round trip grows from 20 to 420 ms for two seconds. Before that, Linux's retransmission timer is about 220 ms, and RFC 6298's is at its floor of 1 s. No packet is lost. Timeouts: Linux {timeouts['linux']:.0f}, RFC 6298 {timeouts['rfc6298']:.0f}."
    )


def fast_open(run):
    names = {"plain": "without", "fastopen": "Fast Open", "fastopen-large-requests": "Fast Open, request of 4,000 bytes", "fastopen-lost": "Fast Open, two SYNs with data lost"}
    rows = []
    for point in run["points"]:
        for key, part in (("fetch.latency_us.p50", "median"), ("fetch.latency_us.max", "slowest")):
            ms = point["measures"][key] / 1000
            rows.append({"variant": names[point["axes"]["variant"]], "name": part, "ms": ms, "text": f"{ms:,.0f} ms"})
    base = chart(rows, height=220, width=380).encode(
        y=alt.Y("variant:N", sort=list(names.values()), axis=axis(None, labelLimit=260)), yOffset="name:N",
        x=alt.X("ms:Q", scale=alt.Scale(type="log", domain=[10, 6000]), axis=axis("time of a fetch (ms, log scale)", values=[10, 100, 1000])),
    )
    picture = base.mark_bar().encode(x2=alt.datum(10), color=colour(["median", "slowest"], [BLUE, ORANGE])) + base.mark_text(align="left", dx=4, color=INK).encode(text="text:N")
    at = {(row["variant"], row["name"]): row["ms"] for row in rows}
    return picture, (
        f"Twenty fetches of 10 kB, each on its own connection, round trip 40 ms. Fast Open saves one round trip: a fetch takes {at['Fast Open', 'median']:.0f} ms, without Fast Open {at['without', 'median']:.0f} ms. "
        f"A request of 4,000 bytes does not fit into the SYN and takes {at[names['fastopen-large-requests'], 'median']:.0f} ms. If a SYN with data is lost, the fetch takes {at[names['fastopen-lost'], 'slowest']:,.0f} ms."
    )


def changing(run):
    rows = []
    for point in run["points"]:
        columns = point["columns"]["pings"]
        for flow in point["flows"]:
            for ping in flow["client"].get("pings") or []:
                if ping[1] is not None:  # a lost ping has no time
                    rows.append({"s": ping[0] / 1e9, "ms": ping[1] / 1e6, "name": point["axes"]["congestion"], "app": flow["app"]})
        assert columns[0] == "sent_ns"
    picture = chart(rows).mark_line(strokeWidth=1.3).encode(x=alt.X("s:Q", axis=axis("time (s)")), y=alt.Y("ms:Q", axis=axis("ping (ms)")), color=colour(["cubic", "bbr"], [BLUE, ORANGE]), detail="app:N")
    at = {p["axes"]["congestion"]: p["measures"] for p in run["points"]}
    return picture, (
        "Between 5 and 10 s, a radio link is slow: its rate is 5 instead of 50 Mbit/s, and its delay is 60 ms longer each way. A ping runs beside a download. "
        + " ".join(
            f"With {name}, the median ping takes {m['before.latency_us.p50'] / 1e3:.0f} ms before the slow time, {m['during.latency_us.p50'] / 1e3:.0f} ms during it, and {m['after.latency_us.p50'] / 1e3:.0f} ms after 12 s; the download's goodput is {m['download.goodput_bps'] / 1e6:.1f} Mbit/s."
            for name, m in (("CUBIC", at["cubic"]), ("BBR", at["bbr"]))
        )
    )


BUDGET = [
    ("client thinks", "#7f9fd6", ["client_thinks"]), ("server thinks", "#1f5fa8", ["server_thinks"]), ("path", GREEN, ["path"]), ("delayed ACK", ORANGE, ["delayed_ack"]),
    ("receiver's window", PURPLE, ["receive_window", "zero_window"]), ("timeout", "#c8453b", ["rto"]), ("other", GREY, None),
]


def budget(run):
    known = {key for _, _, keys in BUDGET for key in keys or []}
    rows, said = [], {}
    for capture in run["captures"]:
        spent = capture["streams"][0]["budget_us"]
        file = Path(capture["file"]).name.split(".")[0]
        total = sum(spent.values())
        for place, (name, _, keys) in enumerate(BUDGET):
            us = sum(us for key, us in spent.items() if (key in keys if keys else key not in known))
            said[file, name] = 100 * us / total
            rows.append({"file": file, "name": name, "percent": 100 * us / total, "place": place})
    picture = chart(rows, height=150, width=400).mark_bar().encode(
        y=alt.Y("file:N", axis=axis(None, labelLimit=300), sort=None), x=alt.X("percent:Q", scale=alt.Scale(domain=[0, 100]), axis=axis("share of the connection's time (%)")),
        color=alt.Color("name:N", scale=alt.Scale(domain=[n for n, _, _ in BUDGET], range=[c for _, c, _ in BUDGET]), legend=alt.Legend(title=None, orient="top", columns=4)), order="place:Q",
    )
    return picture, (
        "Shares of a connection's time: "
        f"{said['write-write-read', 'delayed ACK']:.0f} % for delayed ACKs (write-write-read), {said['slow-server', 'server thinks']:.0f} % for the server's thinking (slow-server), "
        f"{said['small-window', BUDGET[4][0]]:.0f} % for a full receive window (small-window), {said['bulk-rto', 'timeout']:.0f} % for retransmission timeouts (bulk-rto)."
    )


# name, heading, what the picture shows, command, function
ENTRIES = [
    ("forty-milliseconds", "The 40 milliseconds", "Wait of each ACK: about 2 ms or about 45 ms", "tcplab analyze --acks --stream 0 tests/captures/write-write-read.a.pcap", forty_milliseconds),
    ("time-budget", "Where the time went", "Share of each cause in the time of four connections", "tcplab analyze tests/captures/write-write-read.a.pcap tests/captures/slow-server.a.pcap tests/captures/small-window.a.pcap tests/captures/bulk-rto.a.pcap", budget),
    ("who-delays", "Who delays ACKs", "Delayed ACKs of four profiles of the model and two kernels", "tcplab run examples/delayed-ack.toml --on model:linux-6.1,uml:6.1,model:linux-6.1.56,uml:6.1+quickack-6.1.56,model:linux-4.18,model:freebsd-13.2", who_delays),
    ("loss", "CUBIC and BBR against loss", "Goodput over loss: CUBIC falls, BBR stays", "tcplab run examples/new/two-hosts.toml --set link.client-server.loss=0.001%,0.01%,0.1%,1%", loss),
    ("sawtooth", "Two sawtooth windows", "Congestion windows of Reno and CUBIC over 60 s", "tcplab run docs/gallery/sawtooth.toml", sawtooth),
    ("rrul", "Latency under load", "Pings with a FIFO and with CAKE", "tcplab run examples/rrul-cake.toml", rrul),
    ("ack-filter", "Where CAKE's ACK filter helps", "Heat map: gain of downloads by downstream and upstream rate", "tcplab run examples/ack-filter-grid.toml", ack_filter),
    ("incast", "The queue of a switch", "Mean queue of CAQM, BBR, DCTCP and CUBIC, log scale", "tcplab run examples/caqm-incast.toml", incast),
    ("changing-line", "A line that changes", "Pings over time with CUBIC and BBR while the line is slow", "tcplab run examples/changing-line.toml", changing),
    ("delay-spike", "Two timers and a delay spike", "Smoothed RTT and two retransmission timeouts over time", "tcplab run docs/gallery/delay-spike.toml", spike),
    ("rto", "Which retransmission timer", "Change of timeouts with four timers, with intervals", "tcplab run examples/rto-web.toml --connections 20000", rto),
    ("fast-open", "What Fast Open saves", "Time of a fetch with and without Fast Open", "tcplab run examples/fastopen.toml", fast_open),
]


def draw(name, heading, shows, picture):
    picture = picture.configure(background="transparent", font="Helvetica, Arial, sans-serif").configure_view(stroke=None).configure_axis(
        labelColor=INK, titleColor=INK, gridColor=GRID, domainColor=GRID, tickColor=GRID, labelFontSize=14, titleFontSize=14, titleFontWeight="normal"
    ).configure_legend(labelColor=INK, titleColor=INK, labelFontSize=14, symbolStrokeWidth=3, labelLimit=300)
    svg = vl_convert.vegalite_to_svg(picture.to_dict())
    title = f'<title id="title">{html.escape(heading)}</title>\n<desc id="desc">{html.escape(shows)}</desc>\n{STYLE}'
    # Laid out with a font of 14 and drawn with 12: whatever font a machine has for sans-serif, no word is cut off.
    svg = svg.replace('font-size="14px"', 'font-size="12px"')
    svg = re.sub(r' aria-[a-z]+="[^"]*"| role="[^"]*"', "", svg)
    svg = re.sub(r"<svg ([^>]*)>", rf'<svg \1 role="img" aria-labelledby="title desc">\n{title}\n', svg, count=1)
    (FOLDER / f"{name}.svg").write_text(svg.rstrip() + "\n")


def main():
    only = sys.argv[1:]
    text = [
        "# Gallery", "",
        "`make gallery` runs these experiments and writes this page.", "",
        "Commands with `uml:` need a kernel ([kernels.md](kernels.md)). `tcplab run --html FILE` draws charts of your own run.", "",
    ]
    for name, heading, shows, command, make in ENTRIES:
        if only and name not in only:
            continue
        print(f"{name}: {command}", flush=True)
        picture, said = make(run(command))
        draw(name, heading, shows, picture)
        text += [f"## {heading}", "", f"![{shows}](gallery/{name}.svg)", "", said, "", "<!-- example: not run: make gallery -->", "```sh", command, "```", ""]
    if not only:
        (ROOT / "docs/gallery.md").write_text("\n".join(text))


main()
