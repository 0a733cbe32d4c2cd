//! Tests of the store, with files that are no kernels.

use super::*;
use crate::edit::Edit;

fn manifest(key: &str, names: &[&str]) -> Manifest {
    Manifest {
        schema: SCHEMA.into(),
        key: key.into(),
        names: names.iter().map(|n| (*n).to_owned()).collect(),
        version: "6.1.192".into(),
        hz: 250,
        edits: Vec::new(),
        every_build: Edit::names_of_every_build()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        source: Source {
            kind: SourceKind::Package,
            name: "linux-source-6.1".into(),
            package_version: None,
            sha256: "0".repeat(64),
        },
        config_sha256: "1".repeat(64),
        binary_sha256: "2".repeat(64),
        binary_bytes: 6,
        compiler: "gcc 12".into(),
        tcplab: "0.1.0".into(),
        build_cpu_s: 1.5,
    }
}

fn put(store: &Store, key: &str, names: &[&str]) {
    let lock = store.lock("a test", |_| ()).unwrap();
    let binary = store.root().join("new");
    fs::write(&binary, "kernel").unwrap();
    store.put(&lock, &binary, &manifest(key, names)).unwrap();
}

fn key_of(store: &Store, name: &str) -> Option<String> {
    let name = UmlName::parse(name).unwrap();
    store.find(&name).ok().map(|k| k.manifest.key)
}

#[test]
fn kernels_are_found_by_each_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("a/b"));
    assert!(store.list().unwrap().is_empty());
    put(&store, "k1", &["6.1", "6.1.192"]);
    put(&store, "k2", &["6.1+mss-boundary"]);
    assert_eq!(key_of(&store, "6.1@250").as_deref(), Some("k1"));
    assert_eq!(key_of(&store, "mss-boundary").as_deref(), Some("k2"));
    assert_eq!(key_of(&store, "6.1@1000"), None);
    let kernel = store.by_key("k1").unwrap();
    assert_eq!(fs::read_to_string(&kernel.path).unwrap(), "kernel");
    assert_eq!(kernel.manifest, manifest("k1", &["6.1", "6.1.192"]));
}

#[test]
fn kernel_without_the_standard_edits_must_be_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let mut old = manifest("k1", &["6.1@1000"]);
    old.every_build.pop();
    let binary = store.root().join("new");
    fs::write(&binary, "kernel").unwrap();
    let lock = store.lock("a test", |_| ()).unwrap();
    store.put(&lock, &binary, &old).unwrap();
    let error = store.find(&UmlName::parse("6.1@1000").unwrap());
    let text = error.unwrap_err().to_string();
    assert!(text.contains("was built by another tcplab"), "{text}");
    assert!(
        text.ends_with("tcplab kernel build 6.1 --hz 1000"),
        "{text}"
    );
}

#[test]
fn unbuilt_name_is_an_error_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    put(&store, "k1", &["6.1+mss-boundary"]);
    let name = UmlName::parse("6.1+mss-bondary").unwrap();
    assert_eq!(
        store.find(&name).unwrap_err().to_string(),
        "uml:6.1+mss-bondary is not built here (did you mean uml:6.1+mss-boundary?); \
         run: tcplab kernel build 6.1 --edit mss-bondary"
    );
}

#[test]
fn a_name_moves_to_the_newest_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    put(&store, "k1", &["6.1", "6.1.190"]);
    put(&store, "k2", &["mine"]);
    put(&store, "k3", &["6.1", "6.1.192", "mine"]);
    assert_eq!(key_of(&store, "6.1").as_deref(), Some("k3"));
    assert_eq!(key_of(&store, "6.1.190").as_deref(), Some("k1"));
    // Nobody can name it any more.
    assert!(store.by_key("k2").is_none());
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn one_kernel_can_have_many_names_and_goes_with_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    put(&store, "k1", &["6.1"]);
    let lock = store.lock("a test", |_| ()).unwrap();
    store
        .name(&lock, "k1", &["again".into(), "6.1".into()])
        .unwrap();
    assert_eq!(store.by_key("k1").unwrap().manifest.names, ["6.1", "again"]);
    let name = |text| UmlName::parse(text).unwrap();
    assert!(!store.remove(&lock, &name("6.1")).unwrap());
    assert_eq!(key_of(&store, "again").as_deref(), Some("k1"));
    assert!(store.remove(&lock, &name("again")).unwrap());
    assert!(store.by_key("k1").is_none());
    assert!(store.remove(&lock, &name("again")).is_err());
}

#[test]
fn release_name_is_removed_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let name = |text| UmlName::parse(text).unwrap();
    put(
        &store,
        "k1",
        &["6.1+mss-boundary", "6.1.192+mss-boundary", "mine"],
    );
    put(&store, "k2", &["6.1", "6.1.192"]);
    let lock = store.lock("a test", |_| ()).unwrap();
    assert!(store.remove(&lock, &name("6.1")).unwrap());
    assert!(store.by_key("k2").is_none());
    assert!(!store.remove(&lock, &name("6.1+mss-boundary")).unwrap());
    assert!(!store.remove(&lock, &name("mine")).unwrap());
    assert!(store.remove(&lock, &name("6.1.192+mss-boundary")).unwrap());
}

#[test]
fn non_kernels_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    put(&store, "k1", &["6.1"]);
    for (name, text) in [("x", "no json"), ("y", "{}"), ("z", "")] {
        let path = folder.path().join("bin").join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("manifest.json"), text).unwrap();
    }
    fs::create_dir_all(folder.path().join("bin/.new-k2")).unwrap();
    // A manifest without its kernel.
    put(&store, "k3", &["other"]);
    fs::remove_file(folder.path().join("bin/k3/linux")).unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn sources_are_removed_and_kernels_stay() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    put(&store, "k1", &["6.1"]);
    fs::create_dir_all(folder.path().join("src/a/tree")).unwrap();
    fs::write(folder.path().join("src/a/tree/x"), vec![0; 10_000]).unwrap();
    let lock = store.lock("a test", |_| ()).unwrap();
    assert!(store.remove_sources(&lock).unwrap() >= 10_000);
    assert!(!folder.path().join("src").exists());
    assert_eq!(key_of(&store, "6.1").as_deref(), Some("k1"));
    assert!(store.remove_sources(&lock).unwrap() == 0);
}
