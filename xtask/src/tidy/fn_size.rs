//! Rule: a function in Rust or Python aims at 60 lines and fails above 100. In Rust
//! it aims at 5 arguments and fails above 7, and a struct aims at 15 fields.
//!
//! Lines run from the `fn` keyword to the closing brace, or from `def` to the last
//! line of the body, comments included; `self` counts as no argument. A nested
//! function counts in its outer one too. (TypeScript: biome's rules in `web/`.)

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::report::Report;
use super::tree::{Kind, Tree};

pub const NAME: &str = "fn-size";

const LINES_AIM: usize = 60;
const LINES_LIMIT: usize = 100;
const ARGUMENTS_AIM: usize = 5;
const ARGUMENTS_LIMIT: usize = 7;
const FIELDS_AIM: usize = 15;

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
                report_lines(report, &file.path, start, name, lines);
            }
        }
    }
}

/// Judges a function by its lines.
fn report_lines(report: &mut Report, path: &str, start: usize, name: &str, lines: usize) {
    if lines > LINES_LIMIT {
        let what = format!("function `{name}` has {lines} lines (limit {LINES_LIMIT})");
        report.fail(
            path,
            start,
            what,
            "let one dispatcher match, helpers do the work",
        );
    } else if lines > LINES_AIM {
        let what = format!("function `{name}` has {lines} lines (aim {LINES_AIM})");
        report.miss(path, start, what, "take helpers out");
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
        let name = signature.ident.to_string();
        let start = signature.fn_token.span.start().line;
        report_lines(
            self.report,
            self.path,
            start,
            &name,
            end.end().line + 1 - start,
        );

        let arguments = signature
            .inputs
            .iter()
            .filter(|i| matches!(i, syn::FnArg::Typed(_)))
            .count();
        if arguments > ARGUMENTS_LIMIT {
            let what =
                format!("function `{name}` has {arguments} arguments (limit {ARGUMENTS_LIMIT})");
            self.report
                .fail(self.path, start, what, "pass a struct with names");
        } else if arguments > ARGUMENTS_AIM {
            let what = format!("function `{name}` has {arguments} arguments (aim {ARGUMENTS_AIM})");
            self.report
                .miss(self.path, start, what, "pass a struct with names");
        }
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
        let fields = item.fields.len();
        if fields > FIELDS_AIM {
            let what = format!(
                "struct `{}` has {fields} fields (aim {FIELDS_AIM})",
                item.ident
            );
            self.report.miss(
                self.path,
                item.ident.span().start().line,
                what,
                "group them",
            );
        }
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
