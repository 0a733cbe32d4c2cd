//! Lines of CSV as cells: commas, semicolons or tabs, quoted cells with doubled quotes.

/// A line's number, from 1, and its cells.
pub(super) type Line = (usize, Vec<String>);

/// The separator of a heading: the one that it has most of.
pub(super) fn separator(heading: &str) -> Option<char> {
    let count = |c: char| heading.matches(c).count();
    let most = [',', ';', '\t'].into_iter().max_by_key(|c| count(*c))?;
    (count(most) > 0).then_some(most)
}

/// The cells of a line; a quoted cell ends on its line.
pub(super) fn cells(line: &str, separator: char) -> Vec<String> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut is_quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if is_quoted || cell.trim().is_empty() => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// All lines with content; those that begin with `#` are comments.
pub(super) fn lines(text: &str, separator: char) -> impl Iterator<Item = Line> {
    let text = text.trim_start_matches('\u{feff}');
    let numbered = text.lines().enumerate();
    let content = numbered.filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    content.map(move |(at, line)| (at + 1, cells(line, separator)))
}

/// The heading: the first line with content.
pub(super) fn heading(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines()
        .find(|l| !l.trim().is_empty() && !l.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_separators() {
        assert_eq!(cells(r#"a, "b, ""c""" ,d"#, ','), ["a", r#"b, "c""#, "d"]);
        assert_eq!(cells("a;;", ';'), ["a", "", ""]);
        assert_eq!(separator("a;b,c;d"), Some(';'));
        assert_eq!(separator("abc"), None);
    }
}
