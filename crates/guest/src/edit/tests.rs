//! Tests of the edits: the form, the errors, the order, and the shipped ones.

use std::fs;

use super::*;

fn parse(text: &str) -> Result<Edit, EditError> {
    Edit::parse("test", "test.toml", text)
}

/// The texts that change of a source with these files.
fn edit_all(edit: &str, files: &[(&str, &str)]) -> Result<Texts, EditError> {
    let list = vec![parse(edit)?];
    let edits = Edits {
        asked: vec![],
        list,
    };
    let texts = files.iter().map(|(f, t)| (PathBuf::from(f), t.to_string()));
    edits.apply(texts.collect())
}

fn apply(edit: &str, source: &str) -> Result<String, EditError> {
    let mut texts = edit_all(edit, &[("a.c", source)])?;
    Ok(texts.remove(Path::new("a.c")).unwrap_or_default())
}

const SOURCE: &str =
    "int f(void)\n{\n\treturn one && two;\n}\n\nint g(void)\n{\n\treturn one;\n}\n";

#[test]
fn replace_before_and_after() {
    for (what, expected) in [
        ("replace = '0'", "return 0 && two"),
        ("before = '!'", "return !one && two"),
        ("after = '(x)'", "return one(x) && two"),
    ] {
        let edit =
            format!("says = 'x'\n[[change]]\nfile = 'a.c'\nfunction = 'f'\nfind = 'one'\n{what}");
        let text = apply(&edit, SOURCE).unwrap();
        assert!(
            text.contains(expected) && text.contains("return one;"),
            "{text}"
        );
    }
}

#[test]
fn missing_or_ambiguous_anchor_is_an_error_with_its_place() {
    let edit = |function: &str, find: &str| {
        format!("says = 'x'\n[[change]]\nfile = 'a.c'\n{function}\nfind = '{find}'\nreplace = ''")
    };
    for (edit, message) in [
        (
            edit("", "one"),
            "edit test: `one` is in a.c 2 times, lines 3, 8; add words or `function` to select one place",
        ),
        (
            edit("", "three"),
            "edit test: a.c does not contain `three`; is this another kernel version?",
        ),
        (
            edit("function = 'g'", "two"),
            "edit test: a.c, function g(), does not contain `two`; is this another kernel version?",
        ),
        (
            edit("function = 'h'", "one"),
            "edit test: a.c has no function h()",
        ),
    ] {
        assert_eq!(apply(&edit, SOURCE).unwrap_err().to_string(), message);
    }
}

const VARIANTS: &str = "says = 'x'
[[change]]
file = 'a.c'
find = 'both'
replace = 'BOTH'
[[variant]]
of = 'new ones'
[[variant.change]]
file = 'a.c'
find = 'new'
replace = 'NEW'
[[variant]]
of = 'old ones'
[[variant.change]]
file = 'b.h'
find = 'head'
replace = 'HEAD'
[[variant.change]]
file = 'a.c'
find = 'old'
replace = 'OLD'
";

#[test]
fn of_variants_exactly_one_must_fit() {
    let run = |a: &str, b: &str| {
        edit_all(VARIANTS, &[("a.c", a), ("b.h", b)]).map(|t| t.into_values().collect::<Vec<_>>())
    };
    assert_eq!(
        run("both new", "head").unwrap(),
        ["BOTH new".replace("new", "NEW")]
    );
    assert_eq!(run("both old", "head").unwrap(), ["BOTH OLD", "HEAD"]);
    for (a, b, message) in [
        (
            "both",
            "head",
            "edit test: it does not fit this source. new ones: a.c does not contain `new`; is this another kernel version?. \
             old ones: a.c does not contain `old`; is this another kernel version?",
        ),
        (
            "both old new",
            "head",
            "edit test: two variants fit this source, `new ones` and `old ones`; only one may",
        ),
        (
            "new",
            "head",
            "edit test: a.c does not contain `both`; is this another kernel version?",
        ),
    ] {
        assert_eq!(run(a, b).unwrap_err().to_string(), message);
    }
    // A variant of which only half the changes fit does not fit.
    assert_eq!(run("both new", "").unwrap(), ["BOTH NEW"]);
    let text = run("both old", "").unwrap_err().to_string();
    assert!(
        text.contains("old ones: b.h does not contain `head`"),
        "{text}"
    );
    let text = edit_all(VARIANTS, &[("a.c", "both old")])
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("old ones: the source has no file b.h"),
        "{text}"
    );
}

#[test]
fn what_is_no_edit_is_refused() {
    let change = "[[change]]\nfile = 'a.c'\nfind = 'x'\nreplace = ''\n";
    for (text, message) in [
        ("says = 'x'".to_owned(), "needs a [[change]]"),
        (change.to_owned(), "missing field `says`"),
        (
            format!("says = 'x'\nhz = 3\n{change}"),
            "unknown field `hz`",
        ),
        (
            format!("says = 'x'\n{change}before = 'y'\n"),
            "change 1: give exactly one of",
        ),
        (
            VARIANTS.replace("replace = 'HEAD'", ""),
            "variant `old ones`, change 1: give exactly one of",
        ),
        (
            format!("says = 'x'\n{}", change.replace("a.c", "../a.c")),
            "without `..`",
        ),
        (
            format!("says = 'x'\n{}", change.replace("a.c", "/etc/x")),
            "without `..`",
        ),
        (
            format!("says = 'x'\n{}", change.replace("'x'", "' '")),
            "has no words",
        ),
        (
            format!("says = 'x'\nname = 'a b'\n{change}"),
            "cannot be a name",
        ),
        (
            format!("says = 'x'\nincludes = ['nothing']\n{change}"),
            "does not ship",
        ),
    ] {
        let error = parse(&text).unwrap_err().to_string();
        assert!(
            error.starts_with("edit test.toml: ") && error.contains(message),
            "{error}"
        );
    }
}

#[test]
fn the_shipped_edits_are_in_order() {
    let names: Vec<String> = Edit::shipped().into_iter().map(|e| e.name).collect();
    assert_eq!(names, Edit::shipped_names());
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(names, sorted);
    for name in &names {
        assert!(
            !Edits::new(vec![Edit::load(name).unwrap()])
                .unwrap()
                .is_empty()
        );
    }
    assert_eq!(Edits::always().unwrap().files().len(), 8);
}

#[test]
fn an_unknown_edit_gets_the_nearest_name() {
    let text = Edit::load("mss-bondary").unwrap_err().to_string();
    assert!(text.contains("did you mean `mss-boundary`?"), "{text}");
    assert!(
        !Edit::load("x/y")
            .unwrap_err()
            .to_string()
            .contains("did you mean")
    );
}

#[test]
fn a_file_of_the_users() {
    let folder = tempfile::tempdir().unwrap();
    let change = "[[change]]\nfile = 'a.c'\nfind = 'x'\nreplace = ''\n";
    let path = folder.path().join("mine.toml");
    fs::write(&path, format!("says = 'x'\n{change}")).unwrap();
    assert_eq!(Edit::load(path.to_str().unwrap()).unwrap().name, "mine");
    fs::write(
        &path,
        format!("says = 'x'\nname = 'mss-boundary'\n{change}"),
    )
    .unwrap();
    let text = Edit::load(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(text.contains("belongs to an edit"), "{text}");
}

#[test]
fn the_same_changes_are_the_same_content() {
    let load = |names: &[&str]| {
        Edits::new(names.iter().map(|n| Edit::load(n).unwrap()).collect()).unwrap()
    };
    let both = load(&["quickack-count", "mss-boundary"]);
    assert_eq!(both.names(), ["mss-boundary", "quickack-count"]);
    assert_eq!(
        both,
        load(&["mss-boundary", "quickack-count", "mss-boundary"])
    );
    let old = load(&["quickack-6.1.56"]);
    assert_eq!(old.content(), both.content());
    assert_ne!(old.content(), load(&["mss-boundary"]).content());
    // Named twice, once by itself and once by what includes it, applied once.
    let el8 = load(&["el8-receiver", "mss-boundary"]);
    assert_eq!(el8.content(), load(&["el8-receiver"]).content());
}
