//! The comparison as one self-contained HTML page, with a picture of each row's runs. No script: it prints and mails as it is.

use tcplab_compare::{Better, Comparison, Count, Row, Source};

use super::junit::xml;
use super::{Form, figures, legend, picture, verdicts};

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2430;--dim:#66707d;--line:#d9dee5;--paper:#fff;--b:#7a869a;--a:#0b6bcb;\
--worse:#c0362c;--better:#1d7f43;--open:#a8700c;--band:#e8edf3}\
@media(prefers-color-scheme:dark){:root{--ink:#e5e9ef;--dim:#9aa5b3;--line:#39424e;--paper:#171b21;--b:#8d99ab;--a:#5aa9f5;\
--worse:#ef7a70;--better:#5cc486;--open:#dfa847;--band:#262d37}}\
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:2rem auto;max-width:1240px;padding:0 1rem}\
h1{font-size:1.4rem;margin:0}h1.part{margin-top:2.5rem}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}p{margin:.3rem 0}.dim{color:var(--dim)}\
table{border-collapse:collapse;width:100%}th{font-weight:600;color:var(--dim);text-align:left;font-size:.85rem}\
th,td{padding:.25rem .5rem;border-bottom:1px solid var(--line);vertical-align:middle}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td.v{font-weight:600}td.v,td.u{white-space:nowrap}\
.worse,.differs,.invalid{--c:var(--worse)}.better{--c:var(--better)}.undecided,.too-noisy,.missing,.higher,.lower{--c:var(--open)}\
.same,.equal{--c:var(--dim)}td.v{color:var(--c)}svg{display:block}.axis{stroke:var(--line)}circle.b{fill:var(--b);opacity:.75}\
circle.a{fill:var(--a);opacity:.75}line.b{stroke:var(--b);stroke-width:2}line.a{stroke:var(--a);stroke-width:2}\
.band{fill:var(--band)}.zero{stroke:var(--dim)}.whisker{stroke:var(--c);stroke-width:3}.point{fill:var(--c)}\
circle.stolen{stroke:var(--worse);stroke-width:2}.beside{font-size:.75rem;white-space:nowrap}.point.open{fill:none;stroke:var(--c);stroke-width:1.5}ul{margin:.3rem 0;padding-left:1.2rem}.scroll{overflow-x:auto}";

/// What a page may load: its own style, and nothing from anywhere. The page of `web/` allows its own script besides.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

pub(super) const FORM: Form = Form {
    option: "--html",
    help: "Write a self-contained HTML page that plots the runs of each row",
    comparison: |comparison| {
        let title = format!("{} \u{2192} {}", comparison.before, comparison.after);
        page(&title, &body(comparison))
    },
    qa: crate::qa::html,
};

/// A self-contained page of this style.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"><title>{0}</title><style>{STYLE}</style></head>\n\
         <body><h1>{0}</h1>\n{body}</body></html>\n",
        xml(title),
    )
}

/// What stands in it.
pub(crate) fn body(comparison: &Comparison) -> String {
    let mut out = format!("<p>{}</p>\n", verdicts(comparison));
    if !comparison.rows.is_empty() {
        out += &metrics(comparison);
    }
    if !comparison.counts.is_empty() {
        out += &suites(comparison);
    }
    if !comparison.flags.is_empty() {
        out += "<h2>Objections of a careful reader</h2>\n<ul>\n";
        for flag in &comparison.flags {
            let rows: Vec<String> = flag
                .rows
                .iter()
                .map(|row| format!("<li>{}</li>", xml(row)))
                .collect();
            out += &format!(
                "<li>{}<ul class=\"dim\">{}</ul></li>\n",
                xml(&flag.text),
                rows.concat()
            );
        }
        out += "</ul>\n";
    }
    let legend = legend(comparison);
    if !legend.is_empty() {
        out += "<h2>How to read it</h2>\n";
    }
    for line in legend {
        out += &format!("<p class=\"dim\">{}</p>\n", xml(&line));
    }
    out += &sources("before", &comparison.sources_before);
    out + &sources("after", &comparison.sources_after)
}

fn metrics(comparison: &Comparison) -> String {
    let rows: Vec<&Row> = comparison.rows.iter().collect();
    let reach = picture::reach(&rows);
    let mut out = format!(
        "<div class=\"scroll\"><table><thead><tr><th>metric</th><th>unit</th><th class=\"n\">before</th><th class=\"n\">after</th>\
         <th>runs: before above, after below</th><th class=\"n\">change %</th><th class=\"n\">interval</th>\
         <th>\u{2212}{reach:.0} % to +{reach:.0} %</th><th class=\"n\">p</th><th class=\"n\">runs</th><th>verdict</th></tr></thead>\n<tbody>\n"
    );
    for row in rows {
        let better = match row.better {
            Better::Higher => " \u{2191}",
            Better::Lower => " \u{2193}",
            Better::Neither => "",
        };
        out += &format!(
            "<tr><td>{}</td><td class=\"u\">{}{better}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"v {}\" title=\"{}\">{}</td></tr>\n",
            xml(&row.label()),
            xml(figures::unit(&row.unit)),
            figures::exact(row, row.before),
            figures::exact(row, row.after),
            picture::runs(row) + &beside(row),
            figures::change(row),
            figures::interval(row),
            picture::interval(row, reach, comparison.band_percent),
            xml(&figures::p(row)),
            figures::runs(row),
            row.verdict.word(),
            xml(&row.why),
            xml(&figures::verdict(row)),
        );
    }
    out + "</tbody></table></div>\n"
}

/// What the machine did beside the runs of both arms.
fn beside(row: &Row) -> String {
    match figures::noise_of_arms(row).as_str() {
        "" => String::new(),
        words => format!("<div class=\"dim beside\">{}</div>", xml(words)),
    }
}

fn suites(comparison: &Comparison) -> String {
    let mut out = String::from(
        "<h2>Tests</h2>\n<table><thead><tr><th>suite</th><th class=\"n\">passed</th><th class=\"n\">failed</th>\
         <th class=\"n\">skipped</th><th>verdict</th><th>newly failed</th></tr></thead>\n<tbody>\n",
    );
    for row in &comparison.counts {
        let pair = |of: fn(&Count) -> Option<u64>| {
            let side = |c: &Option<Count>| {
                c.as_ref()
                    .and_then(of)
                    .map_or("-".to_owned(), |n| n.to_string())
            };
            format!("{} \u{2192} {}", side(&row.before), side(&row.after))
        };
        let word = row.verdict.word();
        out += &format!(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"v {word}\">{word}</td><td>{}</td></tr>\n",
            xml(&row.name),
            pair(|c| c.passed),
            pair(|c| c.failed),
            pair(|c| c.skipped),
            xml(&row.newly_failed.join(", ")),
        );
    }
    out + "</tbody></table>\n"
}

fn sources(side: &str, sources: &[Source]) -> String {
    if sources.is_empty() {
        return String::new();
    }
    let line = |source: &Source| {
        let settings = source
            .settings
            .iter()
            .map(|(key, value)| format!("{key}: {value}"));
        let parts = [
            source.name.clone(),
            source.format.clone(),
            source.tool.clone(),
            source.system.clone(),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|p| !p.is_empty())
            .chain(settings)
            .collect();
        format!("<li>{}</li>", xml(&parts.join("; ")))
    };
    let lines: String = sources.iter().map(line).collect();
    format!("<h2>Sources {side}</h2>\n<ul class=\"dim\">{lines}</ul>\n")
}
