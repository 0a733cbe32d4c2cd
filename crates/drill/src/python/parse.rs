//! Python's tokens to statements.

use super::lex::{self, Kind, Token};
use super::syntax::{Comparison, Expr, Operator, Statement, What};
use super::value::Value;
use super::{CodeError, Trouble};

/// Deepest nesting of brackets and signs.
const MAX_DEPTH: u32 = 32;
/// Most operators and operands of one statement: trees of them are walked by recursion.
const MAX_NODES: u32 = 300;

/// Words that begin what we do not have.
const BEYOND: &[&str] = &[
    "import", "from", "for", "while", "def", "class", "try", "with", "return", "del", "global",
    "nonlocal", "raise", "lambda", "yield", "async", "await", "match", "exec",
];

const KEYWORDS: &[&str] = &[
    "and", "or", "not", "in", "is", "if", "else", "elif", "True", "False", "None", "assert", "pass",
];

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    nodes: u32,
}

/// The statements of a block.
pub fn parse(code: &str) -> Result<Vec<Statement>, CodeError> {
    let mut parser = Parser {
        tokens: lex::tokens(code)?,
        at: 0,
        depth: 0,
        nodes: 0,
    };
    let mut out = Vec::new();
    while parser.at < parser.tokens.len() {
        let before = parser.at;
        let result = parser.line(&mut out);
        result.map_err(|trouble| trouble.at(parser.line_of(before)))?;
    }
    Ok(out)
}

/// The value of one expression: what stands in the braces of an f-string.
pub fn expression(code: &str) -> Result<Expr, Trouble> {
    let tokens =
        lex::tokens(code).map_err(|_| Trouble::NeedsPython(format!("the f-string's `{code}`")))?;
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
        nodes: 0,
    };
    let value = parser.expr()?;
    match parser.peek() {
        Some(Kind::Newline) => Ok(value),
        _ => Err(Trouble::NeedsPython(format!("the f-string's `{code}`"))),
    }
}

impl Parser {
    fn peek(&self) -> Option<&Kind> {
        self.tokens.get(self.at).map(|t| &t.kind)
    }

    fn line_of(&self, at: usize) -> u32 {
        self.tokens.get(at).map_or(1, |t| t.line)
    }

    fn eat(&mut self, operator: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Kind::Operator(o)) if *o == operator);
        self.at += usize::from(is_it);
        is_it
    }

    fn eat_name(&mut self, name: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Kind::Name(n)) if n == name);
        self.at += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, operator: &str) -> Result<(), Trouble> {
        match self.eat(operator) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{operator}`"))),
        }
    }

    fn unexpected(&self, expected: &str) -> Trouble {
        let found = match self.peek() {
            Some(Kind::Name(name)) if name == "for" => {
                return Trouble::NeedsPython("a comprehension".into());
            }
            Some(Kind::Name(name)) if BEYOND.contains(&name.as_str()) => {
                return Trouble::NeedsPython(format!("`{name}`"));
            }
            Some(Kind::Operator(what @ ("." | "{" | ":=" | "@"))) => {
                return Trouble::NeedsPython(format!("`{what}`"));
            }
            Some(Kind::Name(name)) => format!("`{name}`"),
            Some(Kind::Operator(operator)) => format!("`{operator}`"),
            Some(Kind::Newline) | None => "the end of the line".into(),
            Some(Kind::Indent) => "an indentation".into(),
            Some(Kind::Int(_) | Kind::Float(_)) => "a number".into(),
            Some(Kind::Str(_) | Kind::Format(_)) => "a string".into(),
        };
        Trouble::Wrong(format!("found {found}, expected {expected}"))
    }

    /// A line: statements with `;` between, or an `if`.
    fn line(&mut self, out: &mut Vec<Statement>) -> Result<(), Trouble> {
        if matches!(self.peek(), Some(Kind::Newline)) {
            self.at += 1;
            return Ok(());
        }
        if matches!(self.peek(), Some(Kind::Indent)) {
            return Err(Trouble::Wrong("unexpected indent".into()));
        }
        if matches!(self.peek(), Some(Kind::Name(name)) if name == "if") {
            out.push(self.if_statement()?);
            return Ok(());
        }
        self.simple_statements(out)
    }

    /// Statements with `;` between, to the end of the line.
    fn simple_statements(&mut self, out: &mut Vec<Statement>) -> Result<(), Trouble> {
        loop {
            if matches!(self.peek(), Some(Kind::Newline)) {
                self.at += 1;
                return Ok(());
            }
            self.nodes = 0;
            self.statement(out)?;
            if !self.eat(";") && !matches!(self.peek(), Some(Kind::Newline)) {
                return Err(self.unexpected("`;` or the end of the line"));
            }
        }
    }

    fn if_statement(&mut self) -> Result<Statement, Trouble> {
        let line = self.line_of(self.at);
        let mut branches = Vec::new();
        self.at += 1;
        loop {
            self.nodes = 0;
            let condition = self.expr()?;
            branches.push((Some(condition), self.suite()?));
            if self.eat_name("elif") {
                continue;
            }
            if self.eat_name("else") {
                branches.push((None, self.suite()?));
            }
            let what = What::If(branches);
            return Ok(Statement { line, what });
        }
    }

    /// `: statements` on the same line.
    fn suite(&mut self) -> Result<Vec<Statement>, Trouble> {
        self.expect(":")?;
        if matches!(self.peek(), Some(Kind::Newline)) {
            return Err(Trouble::NeedsPython("a block that is indented".into()));
        }
        let mut body = Vec::new();
        self.simple_statements(&mut body)?;
        Ok(body)
    }

    fn statement(&mut self, out: &mut Vec<Statement>) -> Result<(), Trouble> {
        let line = self.line_of(self.at);
        let start = self.tokens.get(self.at).map_or(0, |t| t.start);
        if let Some(Kind::Name(name)) = self.peek()
            && BEYOND.contains(&name.as_str())
        {
            return Err(Trouble::NeedsPython(format!("`{name}`")));
        }
        if self.eat_name("pass") {
            return Ok(());
        }
        if self.eat_name("assert") {
            let condition = self.expr()?;
            let message = match self.eat(",") {
                true => Some(self.expr()?),
                false => None,
            };
            let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
            let end = last.map_or(start, |t| t.end);
            let what = What::Assert {
                text: start..end,
                condition,
                message,
            };
            out.push(Statement { line, what });
            return Ok(());
        }
        let value = self.expr_list()?;
        let what = self.assignment(value)?;
        out.push(Statement { line, what });
        Ok(())
    }

    /// What follows an expression that begins a statement: nothing, or `=` and what is assigned.
    fn assignment(&mut self, mut value: Expr) -> Result<What, Trouble> {
        if let Some(Kind::Operator(operator)) = self.peek()
            && let with @ Some(_) = operator.strip_suffix('=').and_then(Operator::of)
        {
            let to = vec![target(value)?];
            self.at += 1;
            let value = self.expr_list()?;
            return Ok(What::Assign { to, with, value });
        }
        let mut to = Vec::new();
        while self.eat("=") {
            to.push(target(value)?);
            value = self.expr_list()?;
        }
        Ok(match to.is_empty() {
            true => What::Expr(value),
            false => What::Assign {
                to,
                with: None,
                value,
            },
        })
    }

    /// An expression, or a tuple without parentheses.
    fn expr_list(&mut self) -> Result<Expr, Trouble> {
        let first = self.expr()?;
        if !matches!(self.peek(), Some(Kind::Operator(","))) {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(",") {
            if matches!(self.peek(), Some(Kind::Newline | Kind::Operator(";" | "="))) {
                break;
            }
            items.push(self.expr()?);
        }
        Ok(Expr::List(items))
    }

    fn count(&mut self) -> Result<(), Trouble> {
        self.nodes += 1;
        match self.nodes > MAX_NODES {
            true => Err(Trouble::NeedsPython("a very long expression".into())),
            false => Ok(()),
        }
    }

    fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        if self.depth >= MAX_DEPTH {
            return Err(Trouble::NeedsPython(
                "an expression that is nested very deep".into(),
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn expr(&mut self) -> Result<Expr, Trouble> {
        self.nested(|p| {
            let value = p.or()?;
            if !p.eat_name("if") {
                return Ok(value);
            }
            let condition = p.or()?;
            match p.eat_name("else") {
                true => Ok(Expr::Choice(Box::new([condition, value, p.expr()?]))),
                false => Err(p.unexpected("`else`")),
            }
        })
    }

    fn or(&mut self) -> Result<Expr, Trouble> {
        self.joined("or", Self::and, Expr::Or)
    }

    fn and(&mut self) -> Result<Expr, Trouble> {
        self.joined("and", Self::not, Expr::And)
    }

    /// One or several, with this word between.
    fn joined(
        &mut self,
        word: &str,
        one: fn(&mut Self) -> Result<Expr, Trouble>,
        several: fn(Vec<Expr>) -> Expr,
    ) -> Result<Expr, Trouble> {
        let first = one(self)?;
        if !self.eat_name(word) {
            return Ok(first);
        }
        let mut items = vec![first, one(self)?];
        while self.eat_name(word) {
            items.push(one(self)?);
        }
        Ok(several(items))
    }

    fn not(&mut self) -> Result<Expr, Trouble> {
        match self.eat_name("not") {
            true => self.nested(|p| Ok(Expr::Not(Box::new(p.not()?)))),
            false => self.compare(),
        }
    }

    fn compare(&mut self) -> Result<Expr, Trouble> {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.comparison()? {
            self.count()?;
            rest.push((comparison, self.binary(0)?));
        }
        Ok(match rest.is_empty() {
            true => first,
            false => Expr::Compare(Box::new(first), rest),
        })
    }

    fn comparison(&mut self) -> Result<Option<Comparison>, Trouble> {
        let found = match self.peek() {
            Some(Kind::Operator(operator)) => match *operator {
                "==" => Comparison::Equal,
                "!=" => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" => Comparison::LessEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterEqual,
                _ => return Ok(None),
            },
            Some(Kind::Name(name)) => match name.as_str() {
                "in" => Comparison::In,
                "is" => Comparison::Is,
                "not" => Comparison::NotIn,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(match found {
            Comparison::NotIn => match self.eat_name("in") {
                true => Comparison::NotIn,
                false => return Err(self.unexpected("`in`")),
            },
            Comparison::Is => match self.eat_name("not") {
                true => Comparison::IsNot,
                false => Comparison::Is,
            },
            other => other,
        }))
    }

    /// `|`, `^`, `&`, shifts, sums, products: each binds tighter than the one before.
    fn binary(&mut self, level: usize) -> Result<Expr, Trouble> {
        const LEVELS: &[&[&str]] = &[
            &["|"],
            &["^"],
            &["&"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "//", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.sign();
        };
        let mut left = self.binary(level + 1)?;
        loop {
            let operator = match self.peek() {
                Some(Kind::Operator(operator)) if operators.contains(operator) => {
                    Operator::of(operator)
                }
                _ => None,
            };
            let Some(operator) = operator else {
                return Ok(left);
            };
            self.at += 1;
            self.count()?;
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn sign(&mut self) -> Result<Expr, Trouble> {
        for (text, sign) in [("-", '-'), ("+", '+'), ("~", '~')] {
            if self.eat(text) {
                return self.nested(|p| Ok(Expr::Sign(sign, Box::new(p.sign()?))));
            }
        }
        let base = self.primary()?;
        match self.eat("**") {
            // It binds to the right, and a sign in its exponent is its own.
            true => self.nested(|p| {
                Ok(Expr::Binary(
                    Operator::Pow,
                    Box::new(base),
                    Box::new(p.sign()?),
                ))
            }),
            false => Ok(base),
        }
    }

    fn primary(&mut self) -> Result<Expr, Trouble> {
        let mut value = self.atom()?;
        loop {
            if matches!(self.peek(), Some(Kind::Operator("("))) {
                let Expr::Name(name) = value else {
                    return Err(Trouble::NeedsPython("a call of what is not a name".into()));
                };
                self.at += 1;
                let args = self.items(")")?.0;
                value = Expr::Call(name, args);
            } else if self.eat("[") {
                self.count()?;
                let index = self.expr()?;
                if matches!(self.peek(), Some(Kind::Operator(":"))) {
                    return Err(Trouble::NeedsPython("a slice".into()));
                }
                self.expect("]")?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else if matches!(self.peek(), Some(Kind::Operator("."))) {
                return Err(self.unexpected(""));
            } else {
                return Ok(value);
            }
        }
    }

    /// Expressions up to `close`; whether a comma stood among them.
    fn items(&mut self, close: &str) -> Result<(Vec<Expr>, bool), Trouble> {
        let mut items = Vec::new();
        let mut comma = false;
        while !self.eat(close) {
            if matches!(self.peek(), Some(Kind::Operator("*" | "**"))) {
                return Err(Trouble::NeedsPython("`*` before an argument".into()));
            }
            items.push(self.expr()?);
            if matches!(self.peek(), Some(Kind::Operator("="))) {
                return Err(Trouble::NeedsPython("an argument with a name".into()));
            }
            if self.eat(",") {
                comma = true;
            } else {
                self.expect(close)?;
                break;
            }
        }
        Ok((items, comma))
    }

    fn atom(&mut self) -> Result<Expr, Trouble> {
        self.count()?;
        let kind = self.peek().cloned();
        let value = match kind {
            Some(Kind::Int(n)) => Expr::Value(Value::Int(n)),
            Some(Kind::Float(f)) => Expr::Value(Value::Float(f)),
            Some(Kind::Str(_) | Kind::Format(_)) => return self.strings(),
            Some(Kind::Name(name)) => match name.as_str() {
                "True" => Expr::Value(Value::Bool(true)),
                "False" => Expr::Value(Value::Bool(false)),
                "None" => Expr::Value(Value::None),
                word if KEYWORDS.contains(&word) || BEYOND.contains(&word) => {
                    return Err(self.unexpected("a value"));
                }
                _ => Expr::Name(name),
            },
            Some(Kind::Operator("(")) => {
                self.at += 1;
                let (mut items, comma) = self.items(")")?;
                return Ok(match (items.pop(), comma) {
                    (Some(only), false) => only,
                    (last, _) => {
                        items.extend(last);
                        Expr::List(items)
                    }
                });
            }
            Some(Kind::Operator("[")) => {
                self.at += 1;
                return Ok(Expr::List(self.items("]")?.0));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        Ok(value)
    }

    /// Strings in a row are one.
    fn strings(&mut self) -> Result<Expr, Trouble> {
        let mut text = String::new();
        let mut is_format = false;
        let mut number = 0;
        loop {
            match self.peek() {
                Some(Kind::Str(s)) => text.push_str(s),
                Some(Kind::Format(s)) => {
                    text.push_str(s);
                    is_format = true;
                }
                _ => break,
            }
            number += 1;
            self.at += 1;
        }
        match (is_format, number) {
            (false, _) => Ok(Expr::Value(Value::Str(text))),
            (true, 1) => Ok(Expr::Format(text)),
            (true, _) => Err(Trouble::NeedsPython(
                "an f-string beside another string".into(),
            )),
        }
    }
}

/// What is assigned to.
fn target(value: Expr) -> Result<String, Trouble> {
    match value {
        Expr::Name(name) => Ok(name),
        Expr::List(_) | Expr::Index(..) => Err(Trouble::NeedsPython(
            "an assignment to several names or a part".into(),
        )),
        _ => Err(Trouble::Wrong("cannot assign to an expression".into())),
    }
}
