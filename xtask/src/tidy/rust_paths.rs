//! Every path that a Rust file names (`std::fs::read`, `HashMap<K, V>`, ...), with
//! its imports resolved, for the rule of forbidden calls.
//!
//! The view is that of one file: a name that another of our modules re-exports is
//! not followed; it is found where that module imports it. The insides of macro
//! calls are read as tokens, since nobody but the macro can parse them.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::tree::is_cfg_test;

/// How a path stands in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a `use`; `a::*` ends with the segment `*`.
    Import,
    /// As a type with this many generic type arguments.
    Type(usize),
    /// Anywhere else: a call, a pattern, the tokens of a macro call.
    Value,
    /// The name of a macro that is called.
    Macro,
}

/// One path in a file.
#[derive(Debug, Clone)]
pub struct Named {
    /// The segments, imports resolved.
    pub path: Vec<String>,
    /// The path of the import through which it was reached.
    pub import: Option<Vec<String>>,
    pub line: usize,
    pub place: Place,
    /// Compiled for tests only.
    pub in_test: bool,
}

/// All paths of a file. `is_test` says that the whole file is for tests.
pub fn paths(file: &syn::File, is_test: bool) -> Vec<Named> {
    let mut imports = Imports::default();
    imports.visit_file(file);
    let mut collector = Collector {
        imports: imports.names,
        found: Vec::new(),
        in_test: is_test,
    };
    collector.visit_file(file);
    collector.found
}

/// First pass: what each imported name means.
#[derive(Default)]
struct Imports {
    names: BTreeMap<String, Vec<String>>,
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for leaf in leaves(&item.tree) {
            if leaf.name != "_" && leaf.name != "*" {
                self.names.insert(leaf.name, leaf.path);
            }
        }
    }
}

struct Leaf {
    /// The name that it has in this file.
    name: String,
    path: Vec<String>,
    line: usize,
}

/// The single imports of a `use` tree.
fn leaves(tree: &syn::UseTree) -> Vec<Leaf> {
    fn descend(tree: &syn::UseTree, prefix: &[String], found: &mut Vec<Leaf>) {
        let joined = |ident: &dyn ToString| [prefix, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => descend(&path.tree, &joined(&path.ident), found),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|t| descend(t, prefix, found))
            }
            syn::UseTree::Name(name) => {
                let line = name.ident.span().start().line;
                // `use a::{self}` imports `a`.
                let path = if name.ident == "self" {
                    prefix.to_vec()
                } else {
                    joined(&name.ident)
                };
                let name = path.last().cloned().unwrap_or_default();
                found.push(Leaf { name, path, line });
            }
            syn::UseTree::Rename(rename) => {
                let line = rename.ident.span().start().line;
                let path = if rename.ident == "self" {
                    prefix.to_vec()
                } else {
                    joined(&rename.ident)
                };
                found.push(Leaf {
                    name: rename.rename.to_string(),
                    path,
                    line,
                });
            }
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.span().start().line;
                found.push(Leaf {
                    name: "*".into(),
                    path: joined(&"*"),
                    line,
                });
            }
        }
    }
    let mut found = Vec::new();
    descend(tree, &[], &mut found);
    found
}

/// Second pass: every path.
struct Collector {
    imports: BTreeMap<String, Vec<String>>,
    found: Vec<Named>,
    in_test: bool,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, line: usize, place: Place) {
        let Some((first, rest)) = segments.split_first() else {
            return;
        };
        let import = self.imports.get(first).cloned();
        let path = match &import {
            Some(import) => [import.as_slice(), rest].concat(),
            None => segments,
        };
        self.found.push(Named {
            path,
            import,
            line,
            place,
            in_test: self.in_test,
        });
    }

    fn add_path(&mut self, path: &syn::Path, place: Place) {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.add(segments, path.span().start().line, place);
    }

    /// Reads `a::b::c` sequences in the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(std::mem::take(&mut path), line, Place::Value);
                    }
                    if path.is_empty() {
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Punct(punct) => {
                    let place = if punct.as_char() == '!' {
                        Place::Macro
                    } else {
                        Place::Value
                    };
                    self.add(std::mem::take(&mut path), line, place);
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.add(std::mem::take(&mut path), line, Place::Value);
                    self.tokens(group.stream());
                    colons = 0;
                }
                TokenTree::Literal(_) => self.add(std::mem::take(&mut path), line, Place::Value),
            }
        }
        self.add(path, line, Place::Value);
    }

    fn test_scope(&mut self, attributes: &[syn::Attribute], body: impl FnOnce(&mut Self)) {
        let outer = self.in_test;
        self.in_test |= is_cfg_test(attributes);
        body(self);
        self.in_test = outer;
    }
}

/// How many generic type arguments the last segment of a path has.
fn type_arguments(path: &syn::Path) -> usize {
    let Some(syn::PathArguments::AngleBracketed(arguments)) =
        path.segments.last().map(|s| &s.arguments)
    else {
        return 0;
    };
    arguments
        .args
        .iter()
        .filter(|a| matches!(a, syn::GenericArgument::Type(_)))
        .count()
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.test_scope(&item.attrs, |this| {
            for leaf in leaves(&item.tree) {
                let (line, place, in_test) = (leaf.line, Place::Import, this.in_test);
                this.found.push(Named {
                    path: leaf.path,
                    import: None,
                    line,
                    place,
                    in_test,
                });
            }
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.test_scope(&item.attrs, |this| visit::visit_item_mod(this, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.test_scope(&item.attrs, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.test_scope(&item.attrs, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.test_scope(&item.attrs, |this| visit::visit_item_impl(this, item));
    }

    fn visit_type_path(&mut self, item: &'ast syn::TypePath) {
        self.add_path(&item.path, Place::Type(type_arguments(&item.path)));
        visit::visit_type_path(self, item);
    }

    fn visit_expr_path(&mut self, item: &'ast syn::ExprPath) {
        self.add_path(&item.path, Place::Value);
        visit::visit_expr_path(self, item);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_path(&item.path, Place::Macro);
        self.tokens(item.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let file = syn::parse_file(text).unwrap();
        let render = |named: Named| {
            let test = if named.in_test { " test" } else { "" };
            format!(
                "{}@{} {:?}{test}",
                named.path.join("::"),
                named.line,
                named.place
            )
        };
        paths(&file, false).into_iter().map(render).collect()
    }

    #[test]
    fn imports_are_flattened_and_resolved() {
        let text = "use std::{fs, time::{self, Instant as Clock}, io::*};\n\
                    fn f(x: Clock) { fs::read(); time::sleep(); }\n";
        assert_eq!(
            found(text),
            [
                "std::fs@1 Import",
                "std::time@1 Import",
                "std::time::Instant@1 Import",
                "std::io::*@1 Import",
                "std::time::Instant@2 Type(0)",
                "std::fs::read@2 Value",
                "std::time::sleep@2 Value",
            ]
        );
    }

    #[test]
    fn macro_calls_are_read_as_tokens() {
        let text = "fn f() { assert!(std::env::var(\"X\").is_ok(),\n \"{}\", println!(a)); }\n";
        let found = found(text);
        for expected in ["assert@1 Macro", "std::env::var@1 Value", "println@2 Macro"] {
            assert!(
                found.iter().any(|f| f == expected),
                "{expected} not in {found:?}"
            );
        }
    }

    #[test]
    fn test_code_is_marked() {
        let text = "#[cfg(test)]\nmod t { fn f() { a::b(); } }\n#[test]\nfn g() { c::d(); }\nfn h() { e::f(); }\n";
        assert_eq!(
            found(text),
            ["a::b@2 Value test", "c::d@4 Value test", "e::f@5 Value"]
        );
    }
}
