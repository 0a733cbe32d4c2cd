//! A Markdown page as this check sees it: fenced blocks with the mark before them, and code spans.
//!
//! A mark is a comment on the lines right before a fence: `<!-- example: KIND -->` or
//! `<!-- example: KIND: TEXT -->`, where TEXT may have several lines.

/// One page.
pub struct Page {
    /// Its path from the repository's root.
    pub name: String,
    /// Its lines.
    pub lines: Vec<String>,
    pub blocks: Vec<Block>,
    pub spans: Vec<Span>,
}

/// A fenced block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Line of the opening fence, from 0; the content begins on the next one.
    pub line: usize,
    /// What stands behind the opening fence.
    pub info: String,
    pub mark: Option<Mark>,
    pub content: Vec<String>,
}

/// What a comment says about the block below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub kind: String,
    pub text: String,
}

/// Code between backticks in a line.
#[derive(Debug, PartialEq, Eq)]
pub struct Span {
    /// Its line, from 0.
    pub line: usize,
    pub text: String,
    /// What its words stand for: the text of the mark `run below` above its table.
    pub run_with: Option<String>,
}

const MARK: &str = "<!-- example: ";

/// Between these two comments code spans are no commands.
const NO_COMMANDS: [&str; 2] = ["<!-- no commands -->", "<!-- end of no commands -->"];

impl Page {
    /// Reads a page.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut page = Self {
            name: name.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
            blocks: Vec::new(),
            spans: Vec::new(),
        };
        let (mut mark, mut begun, mut commands) = (None, None::<String>, true);
        let (mut open, mut half) = (None::<Block>, None);
        let mut run_with = None;
        for (line, content) in text.lines().enumerate() {
            let fence = content.trim_start().strip_prefix("```");
            if let (Some(block), fence) = (&mut open, fence) {
                if fence.is_none() {
                    block.content.push(content.to_owned());
                } else {
                    page.blocks.extend(open.take());
                }
            } else if let Some(info) = fence {
                open = Some(Block {
                    line,
                    info: info.trim().to_owned(),
                    mark: mark.take(),
                    content: Vec::new(),
                });
            } else if let Some(more) = comment(content, &mut begun) {
                let below = more.iter().find(|mark| mark.kind == "run below");
                run_with = below.map(|mark| mark.text.clone());
                mark = more;
            } else {
                mark = None;
                run_with = run_with.filter(|_| content.is_empty() || content.starts_with('|'));
                if let Some(place) = NO_COMMANDS.iter().position(|c| content == *c) {
                    commands = place == 1;
                }
                if commands {
                    let before = page.spans.len();
                    spans(line, content, &mut half, &mut page.spans);
                    for span in &mut page.spans[before..] {
                        span.run_with.clone_from(&run_with);
                    }
                }
            }
        }
        page.blocks.extend(open);
        page.blocks.extend(indented(&page.lines));
        page
    }
}

/// Blocks of code that are indented, outside lists and fences: they have no info string, so no rule covers them.
fn indented(lines: &[String]) -> Vec<Block> {
    let (mut found, mut is_fenced, mut is_list, mut is_blank) = (Vec::new(), false, false, true);
    for (line, content) in lines.iter().enumerate() {
        is_fenced ^= content.trim_start().starts_with("```");
        if content.starts_with("    ") && is_blank && !is_fenced && !is_list {
            found.push(Block {
                line,
                info: "indented".into(),
                mark: None,
                content: vec![content.trim().to_owned()],
            });
        }
        is_blank = content.is_empty();
        if !is_blank && !content.starts_with(' ') {
            is_list = content.starts_with(['-', '*'])
                || content.starts_with(|c: char| c.is_ascii_digit());
        }
    }
    found
}

/// `None` outside a mark; else the mark, when it ends in this line.
fn comment(content: &str, begun: &mut Option<String>) -> Option<Option<Mark>> {
    let text = match begun.take() {
        Some(text) => text + "\n" + content,
        None => content.strip_prefix(MARK)?.to_owned(),
    };
    let Some(inner) = text.trim_end().strip_suffix("-->") else {
        *begun = Some(text);
        return Some(None);
    };
    let (kind, text) = inner.split_once(':').unwrap_or((inner, ""));
    Some(Some(Mark {
        kind: kind.trim().to_owned(),
        text: text.trim().to_owned(),
    }))
}

/// Adds the code spans that end in a line; `half` is one that began in a line before. In a table `\|` is a bar.
fn spans(line: usize, content: &str, half: &mut Option<Span>, all: &mut Vec<Span>) {
    // A span ends in its paragraph, or its row of a table.
    if content.is_empty() || content.starts_with('|') {
        *half = None;
    }
    for (number, part) in content.replace("\\|", "|").split('`').enumerate() {
        if number > 0 {
            match half.take() {
                Some(span) => all.push(span),
                None => {
                    *half = Some(Span {
                        line,
                        text: String::new(),
                        run_with: None,
                    });
                }
            }
        }
        if let Some(span) = half {
            if number == 0 {
                span.text.push(' ');
            }
            span.text.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_belongs_to_the_block_right_below_it() {
        let page = Page::parse(
            "a.md",
            "<!-- example: not run: no\nkernel -->\n```sh\nx\n```\n<!-- example: expressions -->\ntext\n```text\ny\n",
        );
        let mark = page.blocks[0].mark.as_ref().unwrap();
        assert_eq!(
            (mark.kind.as_str(), mark.text.as_str()),
            ("not run", "no\nkernel")
        );
        assert_eq!(
            (page.blocks[0].line, page.blocks[0].info.as_str()),
            (2, "sh")
        );
        assert_eq!(page.blocks[0].content, ["x"]);
        // Text stands between, and the block is not closed.
        assert_eq!(page.blocks[1].mark, None);
        assert_eq!(page.blocks[1].content, ["y"]);
    }

    #[test]
    fn spans_are_found_outside_blocks_and_where_they_are_commands() {
        let text = "| `a \\| b` | x `c` |\nodd `e\nf` g\n```\n`d`\n```\n<!-- no commands -->\n`e`\n<!-- end of no commands -->\n`f`\n";
        let page = Page::parse("a.md", text);
        let texts: Vec<&str> = page.spans.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(texts, ["a | b", "c", "e f", "f"]);
    }

    #[test]
    fn a_table_has_what_its_words_stand_for() {
        let text = "<!-- example: run below: A=b\nC=d -->\n\n| `x` |\n| `y` |\n\n`z`\n";
        let page = Page::parse("a.md", text);
        let with: Vec<Option<&str>> = page.spans.iter().map(|s| s.run_with.as_deref()).collect();
        assert_eq!(with, [Some("A=b\nC=d"), Some("A=b\nC=d"), None]);
    }

    #[test]
    fn an_indented_block_is_a_block_and_a_list_is_not() {
        let text = "text\n\n    code\n\n- item\n\n    more\n\n```text\n\n    x\n```\n";
        let page = Page::parse("a.md", text);
        let infos: Vec<&str> = page.blocks.iter().map(|b| b.info.as_str()).collect();
        assert_eq!(infos, ["text", "indented"]);
    }
}
