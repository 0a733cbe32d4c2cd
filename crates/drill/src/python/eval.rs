//! Values of expressions, with Python's rules.

use std::cmp::Ordering;

use super::syntax::{Comparison, Expr, Operator};
use super::value::{Value, Vars};
use super::{Trouble, format};

/// Longest string that is made, in bytes.
pub(super) const MAX_TEXT_BYTES: usize = 64 << 10;

/// The value of an expression.
pub fn eval(expr: &Expr, vars: &Vars) -> Result<Value, Trouble> {
    Ok(match expr {
        Expr::Value(value) => value.clone(),
        Expr::Name(name) => self::name(name, vars)?,
        Expr::Format(text) => Value::Str(format::f_string(text, vars)?),
        Expr::List(items) => Value::List(all(items, vars)?),
        Expr::Binary(operator, a, b) => binary(*operator, &eval(a, vars)?, &eval(b, vars)?)?,
        Expr::Not(a) => Value::Bool(!eval(a, vars)?.is_true()),
        Expr::Sign(sign, a) => self::sign(*sign, &eval(a, vars)?)?,
        Expr::And(items) => until(items, vars, false)?,
        Expr::Or(items) => until(items, vars, true)?,
        Expr::Compare(first, rest) => Value::Bool(chain(first, rest, vars)?),
        Expr::Choice(parts) => {
            let [condition, yes, no] = parts.as_ref();
            match eval(condition, vars)?.is_true() {
                true => eval(yes, vars)?,
                false => eval(no, vars)?,
            }
        }
        Expr::Call(name, args) => call(name, &all(args, vars)?)?,
        Expr::Index(list, index) => self::index(&eval(list, vars)?, &eval(index, vars)?)?,
    })
}

/// The value of a variable.
pub fn name(name: &str, vars: &Vars) -> Result<Value, Trouble> {
    vars.get(name).cloned().ok_or_else(|| {
        let what = format!("the name `{name}` has no value here");
        match super::MEMORY_NAMES.contains(&name) {
            // The target cannot tell.
            true => Trouble::NeedsPython(what),
            false => Trouble::Wrong(what),
        }
    })
}

fn all(items: &[Expr], vars: &Vars) -> Result<Vec<Value>, Trouble> {
    items.iter().map(|item| eval(item, vars)).collect()
}

/// The first value whose truth is `stop`, or the last one.
fn until(items: &[Expr], vars: &Vars, stop: bool) -> Result<Value, Trouble> {
    let mut value = Value::None;
    for item in items {
        value = eval(item, vars)?;
        if value.is_true() == stop {
            break;
        }
    }
    Ok(value)
}

fn chain(first: &Expr, rest: &[(Comparison, Expr)], vars: &Vars) -> Result<bool, Trouble> {
    let mut left = eval(first, vars)?;
    for (comparison, right) in rest {
        let right = eval(right, vars)?;
        if !compare(*comparison, &left, &right)? {
            return Ok(false);
        }
        left = right;
    }
    Ok(true)
}

fn compare(comparison: Comparison, a: &Value, b: &Value) -> Result<bool, Trouble> {
    Ok(match comparison {
        Comparison::Equal => equal(a, b),
        Comparison::NotEqual => !equal(a, b),
        Comparison::Is => is_same(a, b)?,
        Comparison::IsNot => !is_same(a, b)?,
        Comparison::In => contains(a, b)?,
        Comparison::NotIn => !contains(a, b)?,
        Comparison::Less => order(a, b, "<")? == Some(Ordering::Less),
        Comparison::LessEqual => {
            matches!(order(a, b, "<=")?, Some(Ordering::Less | Ordering::Equal))
        }
        Comparison::Greater => order(a, b, ">")? == Some(Ordering::Greater),
        Comparison::GreaterEqual => matches!(
            order(a, b, ">=")?,
            Some(Ordering::Greater | Ordering::Equal)
        ),
    })
}

fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        _ => match (a.int(), b.int()) {
            (Some(a), Some(b)) => a == b,
            _ => match (a.float(), b.float()) {
                (Some(a), Some(b)) => a == b,
                _ => a == b,
            },
        },
    }
}

/// `is` tells objects apart: only of `None`, `True` and `False` there is one.
fn is_same(a: &Value, b: &Value) -> Result<bool, Trouble> {
    let is_single = |value: &Value| matches!(value, Value::None | Value::Bool(_));
    match is_single(a) || is_single(b) {
        true => Ok(a == b),
        false => Err(Trouble::NeedsPython("`is` between values".into())),
    }
}

fn contains(item: &Value, list: &Value) -> Result<bool, Trouble> {
    match (item, list) {
        (_, Value::List(items)) => Ok(items.iter().any(|other| equal(item, other))),
        (Value::Str(part), Value::Str(text)) => Ok(text.contains(part.as_str())),
        _ => Err(Trouble::Wrong(format!(
            "`in` looks into no {}",
            list.kind()
        ))),
    }
}

fn order(a: &Value, b: &Value, operator: &str) -> Result<Option<Ordering>, Trouble> {
    if let (Some(a), Some(b)) = (a.int(), b.int()) {
        return Ok(Some(a.cmp(&b)));
    }
    if let (Some(a), Some(b)) = (a.float(), b.float()) {
        return Ok(a.partial_cmp(&b));
    }
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Ok(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b) {
                if !equal(a, b) {
                    return order(a, b, operator);
                }
            }
            Ok(Some(a.len().cmp(&b.len())))
        }
        _ => Err(mismatch(operator, a, b)),
    }
}

fn mismatch(operator: &str, a: &Value, b: &Value) -> Trouble {
    Trouble::Wrong(format!(
        "`{operator}` is not for {} and {}",
        a.kind(),
        b.kind()
    ))
}

fn too_large() -> Trouble {
    Trouble::NeedsPython("numbers beyond 127 bits".into())
}

fn sign(sign: char, a: &Value) -> Result<Value, Trouble> {
    match (sign, a.int(), a) {
        ('-', Some(n), _) => n.checked_neg().map(Value::Int).ok_or_else(too_large),
        ('+', Some(n), _) => Ok(Value::Int(n)),
        ('~', Some(n), _) => Ok(Value::Int(!n)),
        ('-', None, Value::Float(f)) => Ok(Value::Float(-f)),
        ('+', None, Value::Float(f)) => Ok(Value::Float(*f)),
        _ => Err(Trouble::Wrong(format!("`{sign}` is not for {}", a.kind()))),
    }
}

/// `a operator b`
pub fn binary(operator: Operator, a: &Value, b: &Value) -> Result<Value, Trouble> {
    if let (Operator::Mod, Value::Str(text)) = (operator, a) {
        return format::percent(text, b).map(Value::Str);
    }
    if let (Operator::Add, Value::Str(a), Value::Str(b)) = (operator, a, b) {
        return match a.len() + b.len() <= MAX_TEXT_BYTES {
            true => Ok(Value::Str(format!("{a}{b}"))),
            false => Err(Trouble::NeedsPython("very long strings".into())),
        };
    }
    if let (Some(a), Some(b)) = (a.int(), b.int()) {
        return ints(operator, a, b);
    }
    match (a.float(), b.float()) {
        (Some(x), Some(y)) => {
            floats(operator, x, y).ok_or_else(|| mismatch(operator.text(), a, b))?
        }
        _ => match (a, b) {
            (Value::List(_), _) | (_, Value::List(_)) | (Value::Str(_), _) | (_, Value::Str(_))
                if matches!(operator, Operator::Add | Operator::Mul) =>
            {
                Err(Trouble::NeedsPython(format!(
                    "`{}` of sequences",
                    operator.text()
                )))
            }
            _ => Err(mismatch(operator.text(), a, b)),
        },
    }
}

fn by_zero() -> Trouble {
    Trouble::Wrong("division by zero".into())
}

fn ints(operator: Operator, a: i128, b: i128) -> Result<Value, Trouble> {
    let value = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mul => a.checked_mul(b),
        Operator::Div if b == 0 => return Err(by_zero()),
        Operator::Div => return Ok(Value::Float(a as f64 / b as f64)),
        Operator::FloorDiv | Operator::Mod if b == 0 => return Err(by_zero()),
        Operator::FloorDiv => floor_div(a, b),
        Operator::Mod => floor_mod(a, b),
        Operator::Pow => match u32::try_from(b) {
            Ok(exponent) => a.checked_pow(exponent),
            Err(_) => return Err(Trouble::NeedsPython("`**` with such an exponent".into())),
        },
        Operator::And => Some(a & b),
        Operator::Or => Some(a | b),
        Operator::Xor => Some(a ^ b),
        Operator::Shl | Operator::Shr if b < 0 => {
            return Err(Trouble::Wrong("negative shift count".into()));
        }
        Operator::Shl => {
            let factor = u32::try_from(b)
                .ok()
                .and_then(|bits| 1_i128.checked_shl(bits));
            factor
                .filter(|factor| *factor > 0)
                .and_then(|factor| a.checked_mul(factor))
        }
        Operator::Shr => Some(a >> b.min(127)),
    };
    value.map(Value::Int).ok_or_else(too_large)
}

/// Towards minus infinity.
fn floor_div(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    match a % b != 0 && (a < 0) != (b < 0) {
        true => Some(quotient - 1),
        false => Some(quotient),
    }
}

/// With the sign of `b`.
fn floor_mod(a: i128, b: i128) -> Option<i128> {
    let rest = a.checked_rem(b)?;
    match rest != 0 && (rest < 0) != (b < 0) {
        true => Some(rest + b),
        false => Some(rest),
    }
}

/// `None` if floats lack this operator.
fn floats(operator: Operator, a: f64, b: f64) -> Option<Result<Value, Trouble>> {
    let value = match operator {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div | Operator::FloorDiv | Operator::Mod if b == 0.0 => {
            return Some(Err(by_zero()));
        }
        Operator::Div => a / b,
        Operator::FloorDiv => (a - float_mod(a, b)) / b,
        Operator::Mod => float_mod(a, b),
        Operator::Pow => {
            return Some(Err(Trouble::NeedsPython(
                "`**` of numbers with a point".into(),
            )));
        }
        Operator::And | Operator::Or | Operator::Xor | Operator::Shl | Operator::Shr => {
            return None;
        }
    };
    let value = match operator {
        Operator::FloorDiv => value.round(),
        _ => value,
    };
    Some(Ok(Value::Float(value)))
}

fn float_mod(a: f64, b: f64) -> f64 {
    let rest = a % b;
    match rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        true => rest + b,
        false => rest,
    }
}

fn index(list: &Value, index: &Value) -> Result<Value, Trouble> {
    let (Value::List(items), Some(at)) = (list, index.int()) else {
        return Err(Trouble::NeedsPython(format!("an index of {}", list.kind())));
    };
    let len = i128::try_from(items.len()).unwrap_or(0);
    let at = if at < 0 { at.saturating_add(len) } else { at };
    let item = usize::try_from(at).ok().and_then(|at| items.get(at));
    item.cloned()
        .ok_or_else(|| Trouble::Wrong("index out of range".into()))
}

fn call(name: &str, args: &[Value]) -> Result<Value, Trouble> {
    let wrong = || Trouble::Wrong(format!("`{name}` is not for these arguments"));
    match (name, args) {
        ("print", _) => Ok(Value::None),
        ("abs", [Value::Float(f)]) => Ok(Value::Float(f.abs())),
        ("abs", [n]) => n
            .int()
            .and_then(i128::checked_abs)
            .map(Value::Int)
            .ok_or_else(wrong),
        ("min", [Value::List(items)]) => extreme(items, Ordering::Less),
        ("max", [Value::List(items)]) => extreme(items, Ordering::Greater),
        ("min", [_, _, ..]) => extreme(args, Ordering::Less),
        ("max", [_, _, ..]) => extreme(args, Ordering::Greater),
        ("len", [Value::List(items)]) => length(items.len()),
        ("len", [Value::Str(text)]) => length(text.chars().count()),
        ("str", [value]) => Ok(Value::Str(value.text())),
        ("bool", [value]) => Ok(Value::Bool(value.is_true())),
        ("int", [Value::Float(f)]) => whole(f.trunc()),
        ("int", [Value::Str(text)]) => text.trim().parse().map(Value::Int).map_err(|_| wrong()),
        ("int", [n]) => n.int().map(Value::Int).ok_or_else(wrong),
        ("float", [Value::Str(text)]) => text.trim().parse().map(Value::Float).map_err(|_| wrong()),
        ("float", [n]) => n.float().map(Value::Float).ok_or_else(wrong),
        // A tie goes to the even number.
        ("round", [Value::Float(f)]) => whole(f.round_ties_even()),
        ("round", [n]) => n.int().map(Value::Int).ok_or_else(wrong),
        ("abs" | "min" | "max" | "len" | "str" | "bool" | "int" | "float", _) => Err(wrong()),
        _ => Err(Trouble::NeedsPython(format!("the function `{name}`"))),
    }
}

fn length(len: usize) -> Result<Value, Trouble> {
    i128::try_from(len).map(Value::Int).map_err(|_| too_large())
}

fn whole(f: f64) -> Result<Value, Trouble> {
    match f.is_finite() && f.abs() < 1e38 {
        true => Ok(Value::Int(f as i128)),
        false => Err(Trouble::Wrong(format!("{f} is not a whole number"))),
    }
}

fn extreme(items: &[Value], wanted: Ordering) -> Result<Value, Trouble> {
    let mut items = items.iter();
    let mut best = items
        .next()
        .ok_or_else(|| Trouble::Wrong("the smallest or largest of nothing".into()))?;
    for item in items {
        if order(item, best, "<")? == Some(wanted) {
            best = item;
        }
    }
    Ok(best.clone())
}
