//! Statements and expressions.

use std::ops::Range;

use super::value::Value;

#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    pub line: u32,
    pub what: What,
}

/// What a statement does.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    Assert {
        /// Its bytes in the block.
        text: Range<usize>,
        condition: Expr,
        message: Option<Expr>,
    },
    Expr(Expr),
    Assign {
        to: Vec<String>,
        /// Of `+=` and its like; none: `=`.
        with: Option<Operator>,
        value: Expr,
    },
    /// Conditions with what is done when they are the first that holds; none: `else`.
    If(Vec<(Option<Expr>, Vec<Statement>)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

const OPERATORS: [(&str, Operator); 12] = [
    ("+", Operator::Add),
    ("-", Operator::Sub),
    ("*", Operator::Mul),
    ("/", Operator::Div),
    ("//", Operator::FloorDiv),
    ("%", Operator::Mod),
    ("**", Operator::Pow),
    ("&", Operator::And),
    ("|", Operator::Or),
    ("^", Operator::Xor),
    ("<<", Operator::Shl),
    (">>", Operator::Shr),
];

impl Operator {
    /// The operator of this text.
    pub fn of(text: &str) -> Option<Operator> {
        let found = OPERATORS.iter().find(|(known, _)| *known == text);
        found.map(|(_, operator)| *operator)
    }

    pub fn text(self) -> &'static str {
        let found = OPERATORS.iter().find(|(_, operator)| *operator == self);
        found.map_or("", |(text, _)| text)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
    Is,
    IsNot,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Value(Value),
    Name(String),
    /// What stands between the quotes of `f'...'`.
    Format(String),
    List(Vec<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    /// `-`, `+`, `~`
    Sign(char, Box<Expr>),
    /// `and`
    And(Vec<Expr>),
    /// `or`
    Or(Vec<Expr>),
    /// `a < b <= c`
    Compare(Box<Expr>, Vec<(Comparison, Expr)>),
    /// `a if condition else b`: condition, a, b.
    Choice(Box<[Expr; 3]>),
    Call(String, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The names in it, in order.
    pub fn names<'a>(&'a self, out: &mut Vec<&'a str>) {
        match self {
            Expr::Value(_) | Expr::Format(_) => {}
            Expr::Name(name) => out.push(name),
            Expr::List(items) | Expr::And(items) | Expr::Or(items) | Expr::Call(_, items) => {
                items.iter().for_each(|item| item.names(out));
            }
            Expr::Binary(_, a, b) | Expr::Index(a, b) => {
                a.names(out);
                b.names(out);
            }
            Expr::Not(a) | Expr::Sign(_, a) => a.names(out),
            Expr::Compare(first, rest) => {
                first.names(out);
                rest.iter().for_each(|(_, item)| item.names(out));
            }
            Expr::Choice(parts) => parts.iter().for_each(|item| item.names(out)),
        }
    }
}
