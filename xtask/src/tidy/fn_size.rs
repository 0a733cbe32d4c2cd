//! Rule: a function in Rust or Python aims at 60 lines and fails above 100. In Rust
//! it aims at 5 arguments and fails above 7, and a struct aims at 15 fields.
//!
//! Lines run from the `fn` keyword to the closing brace, or from `def` to the last
//! line of the body, comments included; `self` counts as no argument. A nested
//! function counts in its outer one too. (TypeScript: biome's rules in `web/`.)

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::report::{Report, Size};
use super::tree::{Kind, Tree};

pub const NAME: &str = "fn-size";

const LINES: Size = Size {
    unit: "lines",
    aim: 60,
    limit: Some(100),
    way_out: "let one dispatcher match, helpers do the work",
};
const ARGUMENTS: Size = Size {
    unit: "arguments",
    aim: 5,
    limit: Some(7),
    way_out: "pass a struct with names",
};
const FIELDS: Size = Size {
    unit: "fields",
    aim: 15,
    limit: None,
    way_out: "group them",
};

pub fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.files {
        if let Some(syntax) = file.rust() {
            Functions {
                path: &file.path,
                report,
            }
            .visit_file(syntax);
        }
        if file.kind == Kind::Python {
            for (name, start, lines) in python_functions(&file.text) {
                let of = format!("function `{name}` has ");
                report.measure(&file.path, start, &of, &LINES, lines);
            }
        }
    }
}

/// The functions of a Python file, by indentation: name, first line, lines.
fn python_functions(text: &str) -> Vec<(&str, usize, usize)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let code = code.strip_prefix("async ").unwrap_or(code);
        let Some(rest) = code.strip_prefix("def ") else {
            continue;
        };
        let name = rest.split('(').next().unwrap_or(rest);
        // A closing bracket of the signature may stand as far left as `def` does.
        let body = lines.iter().skip(index + 1).take_while(|next| {
            next.trim().is_empty() || indent(next) > indent(line) || next.trim().starts_with(')')
        });
        let mut length = 1;
        for (offset, next) in body.enumerate() {
            if !next.trim().is_empty() {
                length = offset + 2;
            }
        }
        found.push((name, index + 1, length));
    }
    found
}

struct Functions<'a> {
    path: &'a str,
    report: &'a mut Report,
}

impl Functions<'_> {
    fn function(&mut self, signature: &syn::Signature, end: proc_macro2::Span) {
        let of = format!("function `{}` has ", signature.ident);
        let start = signature.fn_token.span.start().line;
        let lines = end.end().line + 1 - start;
        self.report.measure(self.path, start, &of, &LINES, lines);

        let arguments = signature
            .inputs
            .iter()
            .filter(|i| matches!(i, syn::FnArg::Typed(_)))
            .count();
        self.report
            .measure(self.path, start, &of, &ARGUMENTS, arguments);
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, item.block.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let end = item
            .default
            .as_ref()
            .map_or_else(|| item.sig.span(), Spanned::span);
        self.function(&item.sig, end);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let of = format!("struct `{}` has ", item.ident);
        let line = item.ident.span().start().line;
        self.report
            .measure(self.path, line, &of, &FIELDS, item.fields.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    /// A function of `lines` lines, with what surrounds it.
    fn function(lines: usize, before: &str, after: &str) -> String {
        format!(
            "{before}fn long() {{\n{}}}\n{after}",
            "\n".repeat(lines - 2)
        )
    }

    #[test]
    fn fires_above_100_lines_in_functions_methods_and_traits() {
        let free = function(101, "/// Doc.\n#[inline]\n", "");
        let method = function(101, "struct A;\nimpl A {\n", "}\n");
        let in_trait = function(101, "trait T {\n", "}\n");
        for (text, line) in [(&free, 3), (&method, 3), (&in_trait, 2)] {
            let failures = failures_of(check, &[("a.rs", text)]);
            let what = "function `long` has 101 lines (limit 100)".to_owned();
            assert_eq!(failures, [("a.rs".to_owned(), line, what)]);
        }
    }

    #[test]
    fn fires_above_100_lines_in_python() {
        let python = |lines: usize| {
            format!(
                "def long(\n    a,\n):\n{}\n\nx = 1\n",
                "    a()\n".repeat(lines - 3)
            )
        };
        let failures = failures_of(check, &[("a.py", &python(101)), ("b.py", &python(100))]);
        let what = "function `long` has 101 lines (limit 100)".to_owned();
        assert_eq!(failures, [("a.py".to_owned(), 1, what)]);
    }

    #[test]
    fn is_silent_at_100_lines() {
        assert!(failures_of(check, &[("a.rs", &function(100, "// x\n", ""))]).is_empty());
    }

    #[test]
    fn fires_above_7_arguments_without_self() {
        let eight = "fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) {}\n";
        let seven = "trait T { fn f(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8); }\n";
        assert_eq!(failures_of(check, &[("a.rs", eight)]).len(), 1);
        assert!(failures_of(check, &[("a.rs", seven)]).is_empty());
    }
}
