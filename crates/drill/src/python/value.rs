//! Values and variables.

use std::collections::BTreeMap;

/// A value of Python's.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// A whole number; those beyond 127 bits need Python.
    Int(i128),
    /// A number with a point.
    Float(f64),
    /// A string.
    Str(String),
    /// A tuple or a list.
    List(Vec<Value>),
}

impl Value {
    /// Whether an `assert` of it holds.
    pub fn is_true(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(n) => *n != 0,
            Value::Float(f) => *f != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::List(l) => !l.is_empty(),
        }
    }

    /// As `str()` gives it.
    pub fn text(&self) -> String {
        match self {
            Value::Str(s) => s.clone(),
            other => other.shown(),
        }
    }

    /// As `repr()` gives it, or near to it.
    pub fn shown(&self) -> String {
        match self {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(n) => n.to_string(),
            Value::Float(f) => format!("{f:?}"),
            Value::Str(s) => format!("'{s}'"),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Value::shown).collect();
                format!("({})", items.join(", "))
            }
        }
    }

    /// Python's name of the type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::List(_) => "tuple",
        }
    }

    /// A whole number, of `True` and `False` too.
    pub(super) fn int(&self) -> Option<i128> {
        match self {
            Value::Bool(b) => Some(i128::from(*b)),
            Value::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Any number.
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Value::Float(f) => Some(*f),
            other => other.int().map(|n| n as f64),
        }
    }
}

/// The variables of a script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Vars(BTreeMap<String, Value>);

impl Vars {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Gives a name a value.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.0.get_mut(name) {
            Some(old) => *old = value,
            None => {
                self.0.insert(name.to_string(), value);
            }
        }
    }
}
