//! Finds a few words in a source text: exactly once, in the whole file or inside one function.
//!
//! White space in the words matches any white space of the text, so that an anchor survives a
//! change of indentation. This is no C parser: a function is a line that begins in the first
//! column, names it before a parenthesis and reaches `{` before `;`, and ends with the next line
//! that begins with `}`. Kernel style keeps to that.

use std::ops::Range;

/// Why an anchor has no single place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// No such function in the file.
    NoFunction,
    /// The words are not there.
    Nowhere,
    /// They are there more than once: the lines, from 1.
    Lines(Vec<usize>),
}

/// Byte range of `words` in `text`, inside `function` when one is named.
pub(crate) fn find(text: &str, function: Option<&str>, words: &str) -> Result<Range<usize>, Lost> {
    let scope = match function {
        Some(name) => body_of(text, name).ok_or(Lost::NoFunction)?,
        None => 0..text.len(),
    };
    let tokens: Vec<&str> = words.split_whitespace().collect();
    let Some(first) = tokens.first() else {
        return Err(Lost::Nowhere);
    };
    let inside = text.get(scope.clone()).unwrap_or_default();
    let mut found = inside.match_indices(first).filter_map(|(at, _)| {
        let length = match_length(inside.get(at..)?, &tokens)?;
        Some(scope.start + at..scope.start + at + length)
    });
    let Some(range) = found.next() else {
        return Err(Lost::Nowhere);
    };
    let others: Vec<Range<usize>> = found.collect();
    if others.is_empty() {
        return Ok(range);
    }
    let lines = std::iter::once(&range).chain(&others);
    Err(Lost::Lines(lines.map(|r| line_of(text, r.start)).collect()))
}

/// How many bytes at the beginning of `text` are these tokens with white space between them.
fn match_length(text: &str, tokens: &[&str]) -> Option<usize> {
    let mut rest = text;
    for (number, token) in tokens.iter().enumerate() {
        if number > 0 {
            let trimmed = rest.trim_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        }
        rest = rest.strip_prefix(token)?;
    }
    Some(text.len() - rest.len())
}

/// Line number of a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    1 + text
        .as_bytes()
        .iter()
        .take(at)
        .filter(|&&b| b == b'\n')
        .count()
}

/// Where the definition of a function begins and ends.
fn body_of(text: &str, name: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if !line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !calls(line, name) {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        let (Some(open), semicolon) = (rest.find('{'), rest.find(';')) else {
            continue;
        };
        if semicolon.is_some_and(|s| s < open) {
            continue;
        }
        let end = rest.find("\n}").map_or(rest.len(), |n| n + 2);
        return Some(start..start + end);
    }
    None
}

/// Whether the whole word `name` stands before a parenthesis.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|s| s.chars().next_back());
        let after = line.get(at + name.len()..).unwrap_or_default();
        after.starts_with('(') && !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int f(int a);\n\nstatic int ff(int a)\n{\n\treturn a + 1;\n}\n\n\
                        static int\tf(int a)\n{\n\tif (a  >\n\t\t0)\n\t\treturn a + 1;\n\treturn 0;\n}\n\
                        int g(void)\n{\n\treturn f(2);\n}\n";

    fn at(function: Option<&str>, words: &str) -> Result<&'static str, Lost> {
        find(TEXT, function, words).map(|range| &TEXT[range])
    }

    #[test]
    fn white_space_matches_any_white_space() {
        assert_eq!(at(None, "if (a > 0)"), Ok("if (a  >\n\t\t0)"));
        assert_eq!(at(None, "if(a > 0)"), Err(Lost::Nowhere));
        assert_eq!(at(None, "a>0"), Err(Lost::Nowhere));
        assert_eq!(at(None, " "), Err(Lost::Nowhere));
    }

    #[test]
    fn twice_is_an_error_with_its_lines() {
        assert_eq!(at(None, "return a + 1;"), Err(Lost::Lines(vec![5, 12])));
    }

    #[test]
    fn a_function_is_its_definition_only() {
        assert_eq!(at(Some("f"), "return a + 1;"), Ok("return a + 1;"));
        assert_eq!(find(TEXT, Some("ff"), "return a + 1;").unwrap().start, 39);
        assert_eq!(at(Some("g"), "return a + 1;"), Err(Lost::Nowhere));
        assert_eq!(at(Some("h"), "return"), Err(Lost::NoFunction));
        // The head belongs to it, the prototype and the calls do not.
        assert_eq!(at(Some("f"), "f(int a)"), Ok("f(int a)"));
        assert_eq!(at(Some("f"), "f(2)"), Err(Lost::Nowhere));
    }
}
