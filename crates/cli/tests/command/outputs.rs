//! Where results go: each kind of thing that an output's name may stand for, and temporary folders of runs that end
//! early. `make campaign-files` tries every form of output; here are those that are different inside.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{LOSS, QUICKACK, Run, bytes, command, folder, root, tcplab, tcplab_with, text};

/// A form of output: its name, and the arguments before the file's name.
const FORMS: [(&str, &[&str]); 5] = [
    ("text", &["analyze", QUICKACK, "-o"]),
    ("json", &["analyze", "--json", QUICKACK, "-o"]),
    ("annotate", &["analyze", QUICKACK, "--annotate"]),
    ("junit", &["compare", RUNS, "--junit"]),
    ("metrics", &["compare", RUNS, "--metrics"]),
];

/// Runs of two arms.
const RUNS: &str = "tests/compare/samples/runs.csv";

/// Writes a form to a file.
fn write(form: &[&str], out: &Path) -> Run {
    let mut args = form.to_vec();
    args.push(text(out));
    tcplab(&args)
}

/// What a form writes into a new file.
fn expected(name: &str, form: &[&str]) -> String {
    let place = folder();
    let out = place.path().join("new");
    let run = write(form, &out);
    assert_eq!(run.code, 0, "{name}: {}", run.err);
    let text = read(&out);
    assert!(!text.is_empty(), "{name}");
    text
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Names of a folder.
fn names(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap();
    let names = names.map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A node as /dev has it. None where that is forbidden.
fn node(path: &Path, numbers: [&str; 2]) -> Option<()> {
    let mut mknod = Command::new("mknod");
    mknod.arg(path).arg("c").args(numbers).stderr(Stdio::null());
    let made = mknod.status().is_ok_and(|status| status.success());
    let opens = made && File::options().write(true).open(path).is_ok();
    if !opens {
        eprintln!("skipped: no device may be made in {}", path.display());
    }
    opens.then_some(())
}

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn files_are_replaced_whole_and_keep_their_mode() {
    for (name, form) in FORMS {
        let expected = expected(name, form);
        let place = folder();
        let out = place.path().join("out");
        fs::write(&out, "old").unwrap();
        fs::set_permissions(&out, Permissions::from_mode(0o600)).unwrap();
        let run = write(form, &out);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert_eq!(read(&out), expected, "{name}");
        assert_eq!(mode(&out), 0o600, "{name}");
        assert_eq!(names(place.path()), ["out"], "{name}");
    }
}

#[test]
fn links_stay_and_their_files_are_written() {
    for (name, form) in FORMS {
        let expected = expected(name, form);
        let place = folder();
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "old").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("made", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for (link, file) in [("link", "file"), ("dangling", "made")] {
            let run = write(form, &at(link));
            assert_eq!(run.code, 0, "{name} {link}: {}", run.err);
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert_eq!(read(&at(file)), expected, "{name} {link}");
        }
        let run = write(form, &at("loop"));
        assert_eq!(run.code, 2, "{name}");
        assert!(run.err.contains("/loop: "), "{name}: {}", run.err);
    }
}

#[test]
fn devices_and_fifos_are_written_and_stay() {
    for (name, form) in FORMS {
        let expected = expected(name, form);
        let place = folder();
        let at = |name: &str| place.path().join(name);
        mkfifo(&at("fifo"));
        let fifo = at("fifo");
        let reader = std::thread::spawn(move || read(&fifo));
        let run = write(form, &at("fifo"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert_eq!(reader.join().unwrap(), expected, "{name}");
        assert!(fs::metadata(at("fifo")).unwrap().file_type().is_fifo());

        if node(&at("null"), ["1", "3"]).is_some() {
            let run = write(form, &at("null"));
            assert_eq!(run.code, 0, "{name}: {}", run.err);
            let kind = fs::metadata(at("null")).unwrap().file_type();
            assert!(kind.is_char_device(), "{name}");
        }
        if node(&at("full"), ["1", "7"]).is_some() {
            let run = write(form, &at("full"));
            assert_eq!(run.code, 2, "{name}");
            let said = run.err.contains("full") && run.err.contains("No space");
            assert!(said, "{name}: {}", run.err);
        }
    }
}

#[test]
fn sockets_and_folders_are_refused_by_name() {
    for (name, form) in FORMS {
        let place = folder();
        let at = |name: &str| place.path().join(name);
        let _listener = UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        let wrong = [
            ("socket", "is a socket"),
            ("folder", "is a folder"),
            ("none/file", "No such file"),
        ];
        for (out, why) in wrong {
            let run = write(form, &at(out));
            assert_eq!(run.code, 2, "{name} {out}");
            let said = run.err.contains(text(&at(out))) && run.err.contains(why);
            assert!(said, "{name} {out}: {}", run.err);
        }
        assert_eq!(names(place.path()), ["folder", "socket"], "{name}");
    }
}

/// Hours of work should not end with a name that cannot be written.
#[test]
fn unwritable_output_is_refused_before_the_work() {
    let place = folder();
    let none = place.path().join("none/file");
    // It would run for a day.
    let long = place.path().join("long.toml");
    let hours = EXPERIMENT.replace("1s", "86400s");
    fs::write(&long, hours + "[run]\nmax = \"90000s\"\n").unwrap();
    let run = tcplab(&["run", text(&long), "--html", text(&none)]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains(text(&none)), "{}", run.err);
}

/// Names with a process's number can be foreseen, and `.part` in a shared folder can be there before.
#[test]
fn links_at_foreseen_names_are_not_followed() {
    let place = folder();
    let secret = place.path().join("secret");
    fs::write(&secret, "old").unwrap();
    let out = place.path().join("out");
    let child = command(&["analyze", "-", "-o", text(&out)])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // It reads its input only after this.
    for name in [".out.{}.part", "out.{}.part", "out.part", ".out.part"] {
        let name = name.replace("{}", &child.id().to_string());
        let _ = symlink(&secret, place.path().join(name));
    }
    let mut child = child;
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &bytes(QUICKACK)).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(read(&secret), "old");
    assert!(fs::symlink_metadata(&out).unwrap().is_file());
}

#[test]
fn a_file_of_another_user_in_a_shared_folder_is_refused() {
    if !is_root() {
        eprintln!("skipped: needs root to give a file away");
        return;
    }
    let place = folder();
    fs::set_permissions(place.path(), Permissions::from_mode(0o1777)).unwrap();
    let (secret, out) = (place.path().join("secret"), place.path().join("out"));
    fs::write(&secret, "old").unwrap();
    symlink(&secret, &out).unwrap();
    std::os::unix::fs::lchown(&out, Some(65534), Some(65534)).unwrap();
    let run = tcplab(&["analyze", QUICKACK, "-o", text(&out)]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("another user"), "{}", run.err);
    assert_eq!(read(&secret), "old");
}

#[test]
fn standard_output_by_its_name_is_not_replaced() {
    let place = folder();
    let log = place.path().join("log");
    let mut out = File::create(&log).unwrap();
    std::io::Write::write_all(&mut out, b"before\n").unwrap();
    let args = ["analyze", QUICKACK, "-o", "/dev/stdout"];
    let status = command(&args).stdout(out).status().unwrap();
    assert!(status.success());
    let whole = read(&log);
    let report = tcplab(&["analyze", QUICKACK]).out;
    assert_eq!(whole, format!("before\n{report}"));
    assert_eq!(tcplab(&args).out, report);
}

#[test]
fn two_outputs_to_one_file_and_output_over_input_are_refused() {
    let place = folder();
    let at = |name: &str| place.path().join(name);
    let capture = at("in.pcap");
    fs::write(&capture, bytes(QUICKACK)).unwrap();
    symlink("in.pcap", at("link")).unwrap();
    fs::hard_link(&capture, at("hard")).unwrap();
    let (capture, new) = (text(&capture).to_owned(), text(&at("new")).to_owned());
    let (link, hard) = (text(&at("link")).to_owned(), text(&at("hard")).to_owned());
    let refused = |args: &[&str], why: &str| {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains(why), "{args:?}: {}", run.err);
    };
    let input = "is the file of the input";
    refused(&["analyze", &capture, "-o", &capture], input);
    refused(&["analyze", &capture, "--annotate", &link], input);
    refused(&["analyze", &capture, "--html", &hard], input);
    refused(
        &["analyze", "--pair", LOSS[0], &capture, "-o", &capture],
        input,
    );
    refused(&["compare", &capture, &capture, "--junit", &link], input);
    refused(&["run", &capture, "--html", &link], input);
    refused(&["population", "show", &capture, "--html", &link], input);
    refused(
        &[
            "qa", "--before", "model", "--after", "model", &capture, "--html", &link,
        ],
        input,
    );
    let twice = "is also the file of";
    refused(
        &["analyze", &capture, "-o", &new, "--annotate", &new],
        twice,
    );
    refused(
        &["compare", "a", "b", "--html", &new, "--junit", &new],
        twice,
    );
    refused(&["bench", "--html", &new, "--junit", &new], twice);
    assert_eq!(fs::read(at("in.pcap")).unwrap(), bytes(QUICKACK));
    // Standard input and output by other names.
    let mut same = command(&["analyze", "-", "-o", &capture]);
    let run = Run::new(same.stdin(File::open(&capture).unwrap()).output().unwrap());
    assert!(run.err.contains(input), "{}", run.err);
    let mut same = command(&["analyze", &capture, "--annotate", &new]);
    let run = Run::new(same.stdout(File::create(&new).unwrap()).output().unwrap());
    assert!(run.err.contains(twice), "{}", run.err);
    // A special file such as /dev/null may take several results.
    let null = [
        "analyze",
        &capture,
        "-o",
        "/dev/null",
        "--annotate",
        "/dev/null",
    ];
    assert_eq!(tcplab(&null).code, 0);
}

/// Results on standard output: what is full or gone ends the command with a word and without a panic.
#[test]
fn standard_output_may_be_full_or_gone() {
    let forms: [&[&str]; 9] = [
        &["analyze", QUICKACK],
        &["analyze", "--json", QUICKACK],
        &["analyze", "--acks", QUICKACK],
        &["explain", QUICKACK],
        &["explain", "--json", QUICKACK],
        &["schema", "run"],
        &["man"],
        &["completions", "bash"],
        &["inject", "--list"],
    ];
    for form in forms {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command(form).stdout(full).stderr(Stdio::piped()).output();
        let run = Run::new(output.unwrap());
        assert!(!run.err.contains("panicked"), "{form:?}: {}", run.err);
        assert_eq!(run.code, 2, "{form:?}: {}", run.err);
        assert!(run.err.contains("No space"), "{form:?}: {}", run.err);
    }
}

const EXPERIMENT: &str =
    "[[app]]\nkind = \"bulk\"\nduration = \"1s\"\n[[link]]\nrate = \"10mbit\"\n";

fn experiment(place: &Path) -> PathBuf {
    let file = place.join("t.toml");
    fs::write(&file, EXPERIMENT).unwrap();
    file
}

/// A result folder may come from somebody else.
#[test]
fn links_in_a_result_folder_are_not_followed() {
    let place = folder();
    let file = experiment(place.path());
    let out = place.path().join("out");
    let go = || tcplab(&["run", text(&file), "--out", text(&out)]);
    let run = go();
    assert_eq!(run.code, 0, "{}", run.err);
    let secret = place.path().join("secret");
    fs::write(&secret, "old").unwrap();
    for name in ["summary.json", "cost.json", "points"] {
        let path = out.join(name);
        let aside = place.path().join("aside");
        fs::rename(&path, &aside).unwrap();
        symlink(&secret, &path).unwrap();
        let run = go();
        assert_eq!(run.code, 2, "{name}: {}", run.err);
        assert!(run.err.contains(text(&path)), "{name}: {}", run.err);
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
    }
    assert_eq!(read(&secret), "old");
    assert_eq!(go().code, 0);
}

/// What a run without `--out` leaves where temporary files are.
#[test]
fn ended_run_leaves_no_files() {
    let place = folder();
    let tmp = place.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    let file = place.path().join("long.toml");
    // A day of virtual time: it is ended long before.
    let long = EXPERIMENT.replace("1s", "86400s");
    fs::write(&file, long + "[run]\nmax = \"90000s\"\ncaptures = false\n").unwrap();
    let go = |signal: &str| {
        let mut run = command(&["run", text(&file)]);
        run.env("TMPDIR", &tmp)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        // Its folder is there before the run begins.
        while names(&tmp)
            .iter()
            .all(|name| !name.contains(&format!("-{}-", child.id())))
        {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let id = child.id().to_string();
        let kill = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(kill.success());
        let code = child.wait().unwrap().code();
        (code, names(&tmp).len())
    };
    assert_eq!(go("-INT"), (Some(130), 0));
    assert_eq!(go("-TERM"), (Some(130), 0));
    assert_eq!(go("-KILL"), (None, 1));
    // The next one finds it, and its mode lets nobody else in.
    let left = tmp.join(&names(&tmp)[0]);
    assert_eq!(mode(&left), 0o700);
    assert_eq!(go("-INT"), (Some(130), 0));
}

/// It waits for the rest of its input when it is ended.
#[test]
fn ended_analysis_leaves_no_files() {
    let place = folder();
    let (tmp, out) = (place.path().join("tmp"), place.path().join("out"));
    fs::create_dir(&tmp).unwrap();
    for (name, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut child = command(&["analyze", "-", "--annotate", text(&out)])
            .env("TMPDIR", &tmp)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while names(&tmp).is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let id = child.id().to_string();
        // `wait` closes the input, and an end of the input may overtake the signal.
        let input = child.stdin.take();
        let kill = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(kill.success());
        let ended = child.wait().unwrap();
        drop(input);
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&ended),
            Some(number)
        );
        assert!(names(&tmp).is_empty(), "{name}");
    }
}

#[test]
fn a_copy_of_standard_input_goes_with_the_command() {
    let place = folder();
    let (tmp, out) = (place.path().join("tmp"), place.path().join("out"));
    fs::create_dir(&tmp).unwrap();
    let there = tmp.join("tcplab-run-999999999-abc");
    fs::create_dir(&there).unwrap();
    let mut child = command(&["analyze", "-", "--annotate", text(&out)])
        .env("TMPDIR", &tmp)
        .stdin(File::open(root().join(QUICKACK)).unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(names(&tmp).is_empty());
    let whole = fs::read(&out).unwrap();
    let run = tcplab_with(
        &["analyze", "-", "--annotate", text(&out)],
        &bytes(QUICKACK),
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(fs::read(&out).unwrap(), whole);
}
