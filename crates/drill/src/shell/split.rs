//! A shell line into commands: words with their quotes gone, where their output goes, and how they are joined.
//! The known expansions are `$((...))` and `$PPID`, which is left unchanged.

use super::arithmetic;

/// A command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Command {
    /// Its words.
    pub words: Vec<String>,
    /// The file that its output goes to; none: nowhere that matters.
    pub output: Option<String>,
    /// How the next one is joined to it.
    pub next: Joint,
}

/// How a command is joined to the one after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Joint {
    /// `;`, a new line.
    #[default]
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Into,
}

/// Where a redirection's file is put.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Word,
    /// After `>`.
    Output,
    /// After `2>`, `&>`.
    Other,
}

struct Splitter<'a> {
    rest: &'a str,
    /// The word that is being read; none: between words.
    word: Option<String>,
    awaited: Awaited,
    command: Command,
    out: Vec<Command>,
}

/// The commands of a line.
pub fn split(line: &str) -> Result<Vec<Command>, String> {
    let mut splitter = Splitter {
        rest: line,
        word: None,
        awaited: Awaited::Word,
        command: Command::default(),
        out: Vec::new(),
    };
    while let Some(c) = splitter.rest.chars().next() {
        splitter.step(c)?;
    }
    splitter.end_command(Joint::Then)?;
    Ok(splitter.out)
}

impl<'a> Splitter<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn step(&mut self, c: char) -> Result<(), String> {
        match c {
            ' ' | '\t' | '\r' => {
                self.take(1);
                self.end_word()
            }
            '\n' | ';' => {
                self.take(1);
                self.end_command(Joint::Then)
            }
            '&' | '|' => self.joint(),
            '>' => self.redirection(Awaited::Output),
            '#' if self.word.is_none() => {
                let len = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(len);
                Ok(())
            }
            '\'' => self.single_quotes(),
            '"' => self.double_quotes(),
            '$' => self.dollar(),
            '\\' => {
                self.backslash();
                Ok(())
            }
            '<' if self.rest.starts_with("<<") => {
                Err("`<<`: no file is written from a script".into())
            }
            '<' | '(' | ')' | '`' | '*' | '?' | '{' | '}' => Err(format!("`{c}`")),
            _ => {
                self.take(c.len_utf8());
                self.word.get_or_insert_default().push(c);
                Ok(())
            }
        }
    }

    fn end_word(&mut self) -> Result<(), String> {
        let Some(word) = self.word.take() else {
            return Ok(());
        };
        match self.awaited {
            Awaited::Word => self.command.words.push(word),
            Awaited::Output if word == "/dev/null" => self.command.output = None,
            Awaited::Output => self.command.output = Some(word),
            Awaited::Other if matches!(word.as_str(), "/dev/null" | "&1") => {}
            Awaited::Other => return Err(format!("`2>{word}`: no file is written from a script")),
        }
        self.awaited = Awaited::Word;
        Ok(())
    }

    fn end_command(&mut self, joint: Joint) -> Result<(), String> {
        self.end_word()?;
        if self.awaited != Awaited::Word {
            return Err("`>` without a file".into());
        }
        let mut command = std::mem::take(&mut self.command);
        if command.words.is_empty() && joint == Joint::Then {
            return Ok(());
        }
        if command.words.is_empty() {
            return Err("`&&`, `||` or `|` without a command before it".into());
        }
        command.next = joint;
        self.out.push(command);
        Ok(())
    }

    /// `&&`, `||`, `|`, `&>`
    fn joint(&mut self) -> Result<(), String> {
        let two = self.rest.get(..2).unwrap_or_default();
        match two {
            "&&" | "||" => {
                self.take(2);
                self.end_command(if two == "&&" { Joint::And } else { Joint::Or })
            }
            "&>" => {
                self.end_word()?;
                self.take(1);
                self.redirection(Awaited::Other)
            }
            _ if self.rest.starts_with('|') => {
                self.take(1);
                self.end_command(Joint::Into)
            }
            _ => Err("`&`: commands run one after the other".into()),
        }
    }

    fn redirection(&mut self, mut to: Awaited) -> Result<(), String> {
        // `2>` and `1>`: the digit is the word that stands before.
        match self.word.as_deref() {
            Some("2") => {
                self.word = None;
                to = Awaited::Other;
            }
            Some("1") => self.word = None,
            _ => self.end_word()?,
        }
        self.take(1);
        if self.rest.starts_with('>') {
            self.take(1);
        }
        if self.rest.starts_with("&1") || self.rest.starts_with("&2") {
            self.take(2);
            return Ok(());
        }
        self.awaited = to;
        Ok(())
    }

    fn single_quotes(&mut self) -> Result<(), String> {
        self.take(1);
        let end = self.rest.find('\'').ok_or("`'` without its end")?;
        let text = self.take(end);
        self.word.get_or_insert_default().push_str(text);
        self.take(1);
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), String> {
        self.take(1);
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' => {
                    self.take(1);
                    return Ok(());
                }
                '$' => self.dollar()?,
                '`' => return Err("`` ` ``".into()),
                '\\' if self.rest[1..].starts_with(['"', '\\', '$', '`', '\n']) => self.backslash(),
                _ => {
                    let text = self.take(c.len_utf8());
                    self.word.get_or_insert_default().push_str(text);
                }
            }
        }
        Err("`\"` without its end".into())
    }

    fn backslash(&mut self) {
        self.take(1);
        let len = self.rest.chars().next().map_or(0, char::len_utf8);
        let next = self.take(len);
        // A line that goes on.
        if next != "\n" {
            self.word.get_or_insert_default().push_str(next);
        }
    }

    fn dollar(&mut self) -> Result<(), String> {
        if let Some(inner) = self.rest.strip_prefix("$((") {
            let end = end_of_sum(inner).ok_or("`$((` without its end")?;
            let value = arithmetic::value(&inner[..end])?;
            self.take(3 + end + 2);
            self.word
                .get_or_insert_default()
                .push_str(&value.to_string());
            return Ok(());
        }
        for name in ["${PPID}", "$PPID"] {
            if self.rest.starts_with(name) {
                self.take(name.len());
                self.word.get_or_insert_default().push_str("${PPID}");
                return Ok(());
            }
        }
        let name: String = self
            .rest
            .chars()
            .take(20)
            .take_while(|c| !c.is_whitespace())
            .collect();
        Err(format!("`{name}`"))
    }
}

/// Where the `))` stands that closes a sum.
fn end_of_sum(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return text[at..].starts_with("))").then_some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}
