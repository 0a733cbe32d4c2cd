//! `$((15*1024*1024))`: whole numbers with `+ - * / %` and parentheses.

/// Deepest nesting.
const MAX_DEPTH: u32 = 32;

struct Sum<'a> {
    rest: &'a str,
    depth: u32,
}

/// The value of what stands between `$((` and `))`.
pub fn value(text: &str) -> Result<i64, String> {
    let mut sum = Sum {
        rest: text,
        depth: 0,
    };
    match (sum.sum(), sum.next()) {
        (Some(value), None) => Ok(value),
        _ => Err(format!("`$(({text}))`")),
    }
}

impl Sum<'_> {
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        self.next();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.eat('+') {
                value = value.checked_add(self.product()?)?;
            } else if self.eat('-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        loop {
            if self.eat('*') {
                value = value.checked_mul(self.factor()?)?;
            } else if self.eat('/') {
                value = value.checked_div(self.factor()?)?;
            } else if self.eat('%') {
                value = value.checked_rem(self.factor()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn factor(&mut self) -> Option<i64> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let value = if self.eat('(') {
            let value = self.sum()?;
            if !self.eat(')') {
                return None;
            }
            value
        } else if self.eat('-') {
            self.factor()?.checked_neg()?
        } else {
            self.next();
            let len = self
                .rest
                .bytes()
                .take_while(u8::is_ascii_alphanumeric)
                .count();
            let (digits, rest) = self.rest.split_at(len);
            self.rest = rest;
            match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            }
        };
        self.depth -= 1;
        Some(value)
    }
}
