//! Rule: no `.unwrap()` in the crates outside tests.
//!
//! What input can reach gives an error; what cannot happen says why not, in the
//! message of `expect`.

use syn::visit::{self, Visit};

use super::report::Report;
use super::tree::{Tree, is_cfg_test};

pub const NAME: &str = "panics";

pub fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.files {
        if file.is_test || file.crate_name().is_none() {
            continue;
        }
        if let Some(syntax) = file.rust() {
            Unwraps {
                path: &file.path,
                report,
            }
            .visit_file(syntax);
        }
    }
}

struct Unwraps<'a> {
    path: &'a str,
    report: &'a mut Report,
}

impl<'ast> Visit<'ast> for Unwraps<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_cfg_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_cfg_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, item: &'ast syn::ExprMethodCall) {
        if item.method == "unwrap" && item.args.is_empty() {
            let way_out = "give an error, or say in `expect` why it cannot happen";
            self.report.fail(
                self.path,
                item.method.span().start().line,
                "`.unwrap()`",
                way_out,
            );
        }
        visit::visit_expr_method_call(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    #[test]
    fn fires_outside_tests_only() {
        let text = "fn f() {\n    a().b().unwrap();\n    c.expect(\"checked above\");\n}\n\
                    #[cfg(test)]\nmod tests { fn g() { a.unwrap(); } }\n#[test]\nfn h() { a.unwrap(); }\n";
        let samples = [
            ("crates/cli/src/a.rs", text),
            ("crates/cli/tests/b.rs", text),
            ("xtask/src/c.rs", text),
        ];
        let failures = failures_of(check, &samples);
        assert_eq!(
            failures,
            [(
                "crates/cli/src/a.rs".to_owned(),
                2,
                "`.unwrap()`".to_owned()
            )]
        );
    }
}
