//! `$((15*1024*1024))`: whole numbers with `+ - * / %` and parentheses.

/// Deepest nesting.
const MAX_DEPTH: u32 = 32;

type Operator = fn(i64, i64) -> Option<i64>;

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
        let is_it = self.next() == Some(c);
        if is_it {
            self.rest = &self.rest[c.len_utf8()..];
        }
        is_it
    }

    fn sum(&mut self) -> Option<i64> {
        self.chain(
            Self::product,
            &[('+', i64::checked_add), ('-', i64::checked_sub)],
        )
    }

    fn product(&mut self) -> Option<i64> {
        let operators: &[(char, Operator)] = &[
            ('*', i64::checked_mul),
            ('/', i64::checked_div),
            ('%', i64::checked_rem),
        ];
        self.chain(Self::factor, operators)
    }

    fn chain(
        &mut self,
        part: fn(&mut Self) -> Option<i64>,
        operators: &[(char, Operator)],
    ) -> Option<i64> {
        let mut value = part(self)?;
        while let Some((_, operate)) = operators.iter().find(|(sign, _)| self.eat(*sign)) {
            value = operate(value, part(self)?)?;
        }
        Some(value)
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
            let after = self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            let digits = &self.rest[..self.rest.len() - after.len()];
            self.rest = after;
            match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            }
        };
        self.depth -= 1;
        Some(value)
    }
}
