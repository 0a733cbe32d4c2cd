//! A line of shell, as far as it is needed to find the commands in it: words, quotes, comments.

/// The commands of a line, each as its words; redirections and comments are left out.
///
/// `tcplab a | jq b` gives two commands, the second without its pipe.
pub fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut skip = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                text.extend(chars.by_ref().take_while(|other| *other != c));
            }
            '#' if word.is_none() => break,
            '|' | ';' | '&' | '(' | ')' => {
                end(&mut found, &mut word, &mut skip);
                found.push(Vec::new());
            }
            '<' | '>' => {
                // The number of a descriptor.
                word.take_if(|w| w.chars().all(|c| c.is_ascii_digit()));
                end(&mut found, &mut word, &mut skip);
                chars.next_if(|next| matches!(next, '>' | '&'));
                skip = chars.peek() != Some(&'(');
            }
            c if c.is_whitespace() => end(&mut found, &mut word, &mut skip),
            c => word.get_or_insert_default().push(c),
        }
    }
    end(&mut found, &mut word, &mut skip);
    found.retain(|words| !words.is_empty());
    found
}

/// A word ends; the one behind a redirection is a file.
fn end(found: &mut [Vec<String>], word: &mut Option<String>, skip: &mut bool) {
    if let Some(word) = word.take()
        && !std::mem::take(skip)
        && let Some(last) = found.last_mut()
    {
        last.push(word);
    }
}

/// The lines of a block with those joined that end in a backslash, each with the number of its first one.
pub fn joined(content: &[String]) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in content.iter().enumerate() {
        let more = line.ends_with('\\');
        let part = line.trim_end_matches('\\');
        match lines.last_mut() {
            Some((_, text)) if goes_on => text.push_str(part),
            _ => lines.push((number, part.to_owned())),
        }
        goes_on = more;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_its_commands() {
        let all = |line| {
            let found: Vec<String> = commands(line).iter().map(|c| c.join("/")).collect();
            found.join(" ; ")
        };
        assert_eq!(all("a 'b c' \"d\"e  # f"), "a/b c/de");
        assert_eq!(all("a --x | b && c; d"), "a/--x ; b ; c ; d");
        assert_eq!(all("a > out 2>&1 b >> c"), "a/b");
        assert_eq!(all("diff <(a b) <(c)"), "diff ; a/b ; c");
    }

    #[test]
    fn lines_that_end_in_a_backslash_are_joined() {
        let lines = ["a \\", "  b", "c"].map(str::to_owned);
        let right = [(0, "a   b".to_owned()), (2, "c".to_owned())];
        assert_eq!(joined(&lines), right);
    }
}
