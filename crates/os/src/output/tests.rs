//! Each kind of thing that a name may stand for, and what it holds afterwards.

use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;

use nix::sys::stat::Mode;
use nix::unistd::{chown, geteuid, mkfifo};

use super::*;

/// Writes as the command does.
fn put(path: &Path, text: &str) -> Result<(), String> {
    let mut out = Output::create(path).map_err(|e| e.to_string())?;
    out.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    out.commit().map_err(|e| e.to_string())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Of a folder like /tmp, a file of another user. None without root.
fn planted(place: &Path) -> Option<PathBuf> {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root to give a file away");
        return None;
    }
    fs::set_permissions(place, fs::Permissions::from_mode(0o1777)).unwrap();
    Some(place.join("out"))
}

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(65534), Some(65534)).unwrap();
}

#[test]
fn new_file_has_the_umasks_mode_and_is_the_only_file() {
    let place = tempfile::tempdir().unwrap();
    let (ours, plain) = (place.path().join("ours"), place.path().join("plain"));
    put(&ours, "x").unwrap();
    fs::write(&plain, "x").unwrap();
    assert_eq!(mode(&ours), mode(&plain));
    assert_eq!(names(place.path()), ["ours", "plain"]);
}

#[test]
fn a_file_keeps_its_mode_and_its_owner() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    if geteuid().is_root() {
        chown(
            &path,
            Some(Uid::from_raw(65534)),
            Some(Gid::from_raw(65534)),
        )
        .unwrap();
    }
    let owner = |path: &Path| {
        (
            fs::metadata(path).unwrap().uid(),
            fs::metadata(path).unwrap().gid(),
        )
    };
    let before = owner(&path);
    put(&path, "new").unwrap();
    assert_eq!((read(&path).as_str(), mode(&path)), ("new", 0o640));
    assert_eq!(owner(&path), before);
}

#[test]
fn without_a_commit_only_the_old_file_stays() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    fs::write(&path, "old").unwrap();
    let mut out = Output::create(&path).unwrap();
    out.write_all(b"new").unwrap();
    assert_eq!(read(&path), "old");
    drop(out);
    assert_eq!(
        (read(&path).as_str(), names(place.path())),
        ("old", vec!["out".into()])
    );
}

#[test]
fn a_hidden_name_where_there_are_no_files_without_one() {
    let place = tempfile::tempdir().unwrap();
    let hidden = builder().make_in(place.path(), |p| fresh().create_new(true).open(p));
    let (file, path) = hidden.unwrap().into_parts();
    let target = place.path().join("out");
    let to = To::Name {
        target: target.clone(),
        hidden: Some(path),
        old: None,
    };
    let mut out = Output::of(file, to);
    out.write_all(b"x").unwrap();
    assert_ne!(names(place.path()), ["out"]);
    out.commit().unwrap();
    assert_eq!(names(place.path()), ["out"]);
    assert_eq!(read(&target), "x");
}

#[test]
fn a_link_stays_and_its_file_is_written() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/file"), "old").unwrap();
    fs::set_permissions(at("far/file"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("far/file", at("second")).unwrap();
    symlink("second", at("first")).unwrap();
    put(&at("first"), "new").unwrap();
    assert_eq!(
        (read(&at("far/file")).as_str(), mode(&at("far/file"))),
        ("new", 0o600)
    );
    for link in ["first", "second"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
    }
    symlink("far/none", at("dangling")).unwrap();
    put(&at("dangling"), "made").unwrap();
    assert_eq!(read(&at("far/none")), "made");
    symlink("loop", at("loop")).unwrap();
    assert!(
        put(&at("loop"), "x")
            .unwrap_err()
            .contains("symbolic links")
    );
    symlink("far", at("folder")).unwrap();
    assert!(put(&at("folder"), "x").unwrap_err().contains("is a folder"));
}

#[test]
fn special_file_is_written_or_refused_but_stays() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    mkfifo(&at("fifo"), Mode::from_bits_truncate(0o600)).unwrap();
    let fifo = at("fifo");
    let reader = std::thread::spawn(move || read(&fifo));
    // Nothing is opened: the reader would see an end.
    check(&at("fifo")).unwrap();
    put(&at("fifo"), "text").unwrap();
    assert_eq!(reader.join().unwrap(), "text");
    assert!(fs::metadata(at("fifo")).unwrap().file_type().is_fifo());
    let _listener = UnixListener::bind(at("socket")).unwrap();
    assert!(put(&at("socket"), "x").unwrap_err().contains("is a socket"));
    assert!(fs::metadata(at("socket")).unwrap().file_type().is_socket());
    assert!(check(&at("socket")).is_err());
    assert!(put(place.path(), "x").unwrap_err().contains("is a folder"));
    assert!(put(&at("none/"), "x").unwrap_err().contains("is a folder"));
    assert!(
        put(&at("none/file"), "x")
            .unwrap_err()
            .contains("No such file")
    );
    assert!(put(Path::new(""), "x").unwrap_err().contains("empty"));
    check(&at("new")).unwrap();
    assert!(check(&at("none/file")).is_err() && check(place.path()).is_err());
    assert_eq!(names(place.path()), ["fifo", "socket"]);
    let mut full = Output::create(Path::new("/dev/full")).unwrap();
    full.write_all(b"x").unwrap();
    assert!(full.commit().unwrap_err().to_string().contains("No space"));
}

#[test]
fn an_open_descriptor_is_written_where_it_stands() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("log");
    let mut log = File::create(&path).unwrap();
    log.write_all(b"before ").unwrap();
    let name = format!("/dev/fd/{}", log.as_raw_fd());
    put(Path::new(&name), "ours ").unwrap();
    log.write_all(b"after").unwrap();
    assert_eq!(read(&path), "before ours after");
    assert_eq!(Identity::of(Path::new(&name)), None);
    assert!(put(Path::new("/dev/fd/999999"), "x").is_err());
}

#[test]
fn other_users_files_in_a_shared_folder_stay_untouched() {
    let place = tempfile::tempdir().unwrap();
    let Some(path) = planted(place.path()) else {
        return;
    };
    let secret = place.path().join("secret");
    fs::write(&secret, "old").unwrap();
    symlink(&secret, &path).unwrap();
    give_away(&path);
    assert!(put(&path, "x").unwrap_err().contains("another user"));
    assert_eq!(read(&secret), "old");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "theirs").unwrap();
    give_away(&path);
    assert!(put(&path, "x").unwrap_err().contains("another user"));
    fs::remove_file(&path).unwrap();
    mkfifo(&path, Mode::from_bits_truncate(0o666)).unwrap();
    give_away(&path);
    assert!(put(&path, "x").unwrap_err().contains("another user"));
}

#[test]
fn a_name_of_our_own_is_never_followed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("secret"), "old").unwrap();
    symlink("secret", at("summary.json")).unwrap();
    assert!(write_own(&at("summary.json"), "x").is_err());
    assert!(append_own(&at("summary.json")).is_err());
    symlink("none", at("dangling")).unwrap();
    assert!(write_own(&at("dangling"), "x").is_err());
    assert!(append_own(&at("dangling")).is_err());
    assert_eq!(read(&at("secret")), "old");
    assert!(!at("none").exists());
    write_own(&at("cost.json"), "x").unwrap();
    write_own(&at("cost.json"), "y").unwrap();
    append_own(&at("cost.json"))
        .unwrap()
        .write_all(b"z")
        .unwrap();
    assert_eq!(read(&at("cost.json")), "yz");
}

#[test]
fn other_names_of_a_file_keep_the_old_text() {
    let place = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| place.path().join(name));
    fs::write(&one, "old").unwrap();
    fs::hard_link(&one, &two).unwrap();
    put(&one, "new").unwrap();
    assert_eq!((read(&one), read(&two)), ("new".into(), "old".into()));
}

#[test]
fn a_file_is_written_in_place_when_it_cannot_be_renamed_over() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("out");
    fs::write(&path, "old and long").unwrap();
    let old = Old::of(&fs::metadata(&path).unwrap());
    let to = || To::Copy {
        target: path.clone(),
        old,
    };
    let mut out = Output::of(tempfile::tempfile().unwrap(), to());
    out.write_all(b"new").unwrap();
    assert_eq!(read(&path), "old and long");
    out.commit().unwrap();
    assert_eq!(read(&path), "new");
    assert_eq!(Old::of(&fs::metadata(&path).unwrap()), old);
    // Another file, or a link, has taken the name.
    fs::remove_file(&path).unwrap();
    fs::write(place.path().join("other"), "other").unwrap();
    symlink("other", &path).unwrap();
    let out = Output::of(tempfile::tempfile().unwrap(), to());
    assert!(out.commit().is_err());
    assert_eq!(read(&path), "other");
}

#[test]
fn two_names_of_one_file_are_equal() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "x").unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink("file", at("link")).unwrap();
    symlink("new", at("dangling")).unwrap();
    fs::hard_link(at("file"), at("hard")).unwrap();
    let of = |name: &str| Identity::of(&at(name)).unwrap();
    assert_eq!(of("file"), of("link"));
    assert_eq!(of("file"), of("hard"));
    assert_eq!(of("file"), of("folder/../file"));
    assert_eq!(of("new"), of("dangling"));
    assert_ne!(of("new"), of("folder/new"));
    assert_ne!(of("file"), of("new"));
    assert_eq!(Identity::of(Path::new("/dev/null")), None);
    assert_eq!(Identity::of(place.path()), None);
}
