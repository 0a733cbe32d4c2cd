//! Builds kernels for `uml:` stacks: a source (Debian's package or a tree), edits on top, the
//! configuration in `uml.config`, and the result in the [`Store`], named and with its manifest.
//!
//! The unedited source is built once for each HZ. An edited kernel starts from a copy of that
//! build folder, with the edits in the source only while it is compiled ([`overlay`]), so it
//! costs what the edited files cost. All of this happens under the store's lock.

mod anchor;
mod command;
mod edit;
mod error;
mod folder;
mod hash;
mod make;
mod overlay;
mod package;
mod source;
mod tools;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};

pub use edit::{Edit, EditError, Edits};
pub use error::BuildError;
pub use tools::{find_program, free_bytes, missing_tools};

use self::command::Log;
use self::make::Make;
use self::source::Tree;
use crate::stack::{Lock, Manifest, Store, UmlKernel, UmlName, is_word};

/// Room that unpacking a source and building it takes.
const DISK_FIRST: u64 = 3_000_000_000;

/// Room that another build from the same source takes.
const DISK_NEXT: u64 = 500_000_000;

/// What to build from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Debian's package of a version (`6.1`), or of one release of it (`6.1.176`).
    Package(String),
    /// A source tree.
    Folder(PathBuf),
}

/// What to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The source.
    pub origin: Origin,
    /// Edits on top.
    pub edits: Edits,
    /// Timer frequency, one of [`crate::stack::HZ_CHOICES`].
    pub hz: u32,
    /// A name of the user's choice.
    pub name: Option<String>,
    /// Compilers at once.
    pub jobs: usize,
    /// Install missing programs by apt.
    pub install: bool,
}

/// What happens during a build.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// Another process builds.
    Waiting,
    /// A new phase.
    Phase(&'a str),
    /// A step of make was done.
    Compiled {
        /// Steps so far.
        done: u64,
        /// Steps in all, about, where known.
        expected: Option<u64>,
        /// What it made.
        file: &'a str,
    },
}

/// A kernel that was asked for.
#[derive(Clone, Debug)]
pub struct Built {
    /// The kernel.
    pub kernel: UmlKernel,
    /// Whether it was there before.
    pub was_there: bool,
    /// CPU seconds of this call, with an unedited kernel that had to be built first.
    pub cpu_s: f64,
}

/// Builds a kernel, or finds it built.
///
/// # Errors
/// When the source cannot be had, an edit does not fit or the build fails.
pub fn build(
    store: &Store,
    request: &Request,
    step: &mut dyn FnMut(Step),
) -> Result<Built, BuildError> {
    if let Some(name) = request.name.as_deref()
        && (!is_word(name) || Edit::shipped_names().contains(&name))
    {
        return Err(BuildError::Name(name.to_owned()));
    }
    let lock = store.lock(|| step(Step::Waiting))?;
    let builder = Builder {
        store,
        request,
        lock: &lock,
        always: Edits::always()?,
        cpu_s: Cell::new(0.0),
    };
    builder.run(step)
}

struct Builder<'a> {
    store: &'a Store,
    request: &'a Request,
    lock: &'a Lock,
    always: Edits,
    cpu_s: Cell<f64>,
}

/// A source that was found but perhaps not unpacked.
enum Found {
    Package(package::Tarball, String),
    Tree(Tree),
}

impl Builder<'_> {
    fn run(&self, step: &mut dyn FnMut(Step)) -> Result<Built, BuildError> {
        let found = self.find_source(step)?;
        let sum = match &found {
            Found::Package(_, sum) => sum,
            Found::Tree(tree) => &tree.source.sha256,
        };
        let key = self.key(sum, &self.request.edits);
        if let Some(kernel) = self.store.by_key(&key) {
            let names = self.names(&kernel.manifest.version, &self.request.edits);
            let kernel = self.store.name(self.lock, &key, &names)?;
            return Ok(Built {
                kernel,
                was_there: true,
                cpu_s: 0.0,
            });
        }
        if self.request.install {
            tools::install(&mut self.log("install")?)?;
        }
        tools::check()?;
        let tree = self.tree(found, step)?;
        let base = self.base(&tree, step)?;
        let kernel = if self.request.edits.is_empty() {
            base
        } else {
            self.edited(&tree, key, step)?
        };
        Ok(Built {
            kernel,
            was_there: false,
            cpu_s: self.cpu_s.get(),
        })
    }

    fn log(&self, name: &str) -> Result<Log<'_>, BuildError> {
        Log::create(
            &self.store.root().join("logs").join(format!("{name}.log")),
            self.lock,
        )
    }

    fn find_source(&self, step: &mut dyn FnMut(Step)) -> Result<Found, BuildError> {
        match &self.request.origin {
            Origin::Package(version) => {
                let wanted = package::Wanted(version);
                let tarball = match package::local(self.store, &wanted) {
                    Some(tarball) => tarball,
                    None => {
                        step(Step::Phase("fetching the source package"));
                        package::fetch(self.store, &wanted, &mut self.log("fetch")?)?
                    }
                };
                let sum = package::sum(self.store, &tarball.path)?;
                Ok(Found::Package(tarball, sum))
            }
            Origin::Folder(path) => {
                tools::check_disk(self.store.root(), DISK_NEXT)?;
                step(Step::Phase("copying the source"));
                source::follow(self.store, path, &self.always).map(Found::Tree)
            }
        }
    }

    fn tree(&self, found: Found, step: &mut dyn FnMut(Step)) -> Result<Tree, BuildError> {
        match found {
            Found::Tree(tree) => Ok(tree),
            Found::Package(tarball, sum) => {
                let id = source::id(&tarball.package, &sum, &self.always);
                let is_there = self.store.root().join("src").join(id).join("tree").is_dir();
                tools::check_disk(
                    self.store.root(),
                    if is_there { DISK_NEXT } else { DISK_FIRST },
                )?;
                if !is_there {
                    step(Step::Phase("unpacking the source"));
                }
                let mut log = self.log("unpack")?;
                let tree = source::unpack(self.store, &tarball, sum, &self.always, &mut log)?;
                overlay::restore(&tree.path)?;
                Ok(tree)
            }
        }
    }

    fn make<'t>(&self, tree: &'t Tree, folder: PathBuf) -> Make<'t> {
        Make {
            tree,
            folder,
            jobs: self.request.jobs,
        }
    }

    fn base_folder(&self, tree: &Tree) -> PathBuf {
        let name = format!("{}-hz{}", tree.id, self.request.hz);
        self.store.root().join("build").join(name)
    }

    /// The kernel without edits, whose build folder the edited ones start from.
    fn base(&self, tree: &Tree, step: &mut dyn FnMut(Step)) -> Result<UmlKernel, BuildError> {
        let none = Edits::default();
        let key = self.key(&tree.source.sha256, &none);
        let make = self.make(tree, self.base_folder(tree));
        let names = self.names(&tree.version, &none);
        // The mark is there from the end of one build to the begin of the next.
        let mark = make.folder.join("tcplab.key");
        let is_complete = std::fs::read_to_string(&mark).is_ok_and(|old| old == key);
        if is_complete && let Some(kernel) = self.store.by_key(&key) {
            return Ok(if names.is_empty() {
                kernel
            } else {
                self.store.name(self.lock, &key, &names)?
            });
        }
        crate::stack::remove(&mark)?;
        step(Step::Phase(&format!(
            "Linux {} at {} Hz",
            tree.version, self.request.hz
        )));
        let before = children_cpu_s();
        let mut log = self.log(&format!("{}-hz{}", tree.id, self.request.hz))?;
        let is_first = !make.folder.join("linux").is_file();
        make.configure(self.request.hz, &mut log)?;
        make.compile(is_first, &mut log, step)?;
        let kernel = self.put(
            &make,
            key.clone(),
            &none,
            names,
            children_cpu_s() - before,
            &mut log,
        )?;
        std::fs::write(&mark, key).map_err(BuildError::io(&mark))?;
        Ok(kernel)
    }

    /// The kernel with the edits.
    fn edited(
        &self,
        tree: &Tree,
        key: String,
        step: &mut dyn FnMut(Step),
    ) -> Result<UmlKernel, BuildError> {
        let edits = &self.request.edits;
        let what = edits.names().join(" + ");
        step(Step::Phase(&format!(
            "Linux {} at {} Hz with {what}",
            tree.version, self.request.hz
        )));
        let before = children_cpu_s();
        let base = self.base_folder(tree);
        let make = self.make(tree, self.store.root().join("build/edited"));
        crate::stack::remove(&make.folder)?;
        let mut log = self.log(&format!("{}-hz{}-edited", tree.id, self.request.hz))?;
        let mut copy = Command::new("cp");
        copy.args(["-a", "--reflink=auto"])
            .arg(&base)
            .arg(&make.folder);
        log.run("copying the build folder", &mut copy, |_| ())?;
        let overlay = overlay::Overlay::apply(&tree.path, edits)?;
        make.compile(false, &mut log, step)?;
        overlay.undo()?;
        let names = self.names(&tree.version, edits);
        let cpu_s = children_cpu_s() - before;
        let kernel = self.put(&make, key, edits, names, cpu_s, &mut log)?;
        crate::stack::remove(&make.folder)?;
        Ok(kernel)
    }

    /// Puts what was compiled into the store.
    fn put(
        &self,
        make: &Make,
        key: String,
        edits: &Edits,
        names: Vec<String>,
        cpu_s: f64,
        log: &mut Log,
    ) -> Result<UmlKernel, BuildError> {
        self.cpu_s.set(self.cpu_s.get() + cpu_s);
        let binary = make.folder.join("linux.stripped");
        let config_sha256 = make.strip(&binary, log)?;
        let compiler = command::output(Command::new("gcc").arg("--version")).unwrap_or_default();
        let manifest = Manifest {
            schema: crate::stack::MANIFEST_SCHEMA.to_owned(),
            key,
            names,
            version: make.tree.version.clone(),
            hz: self.request.hz,
            edits: edits.names().to_vec(),
            source: make.tree.source.clone(),
            config_sha256,
            binary_sha256: hash::of_file(&binary).map_err(BuildError::io(&binary))?,
            binary_bytes: binary.metadata().map_err(BuildError::io(&binary))?.len(),
            compiler: compiler.lines().next().unwrap_or_default().to_owned(),
            tcplab: env!("CARGO_PKG_VERSION").to_owned(),
            build_cpu_s: cpu_s,
        };
        Ok(self.store.put(self.lock, &binary, &manifest)?)
    }

    /// What a kernel is called in stack names.
    fn names(&self, version: &str, edits: &Edits) -> Vec<String> {
        let name = |base: &str| {
            UmlName::new(base.to_owned(), edits.names().to_vec(), self.request.hz).to_string()
        };
        let is_asked = edits.names() == self.request.edits.names();
        let mut names = Vec::new();
        match &self.request.origin {
            Origin::Package(wanted) => names.push(name(wanted)),
            Origin::Folder(_) if self.request.name.is_none() => names.push(name(version)),
            Origin::Folder(_) => (),
        }
        if matches!(self.request.origin, Origin::Package(_)) && !names.contains(&name(version)) {
            names.push(name(version));
        }
        names.extend(self.request.name.clone().filter(|_| is_asked));
        names
    }

    /// The hash of all that decides what is built.
    fn key(&self, source: &str, edits: &Edits) -> String {
        key(source, &self.always, edits, self.request.hz)
    }
}

fn key(source: &str, always: &Edits, edits: &Edits, hz: u32) -> String {
    let parts = [
        source,
        &make::fragment(hz),
        &always.content(),
        &edits.content(),
    ];
    let text: Vec<String> = parts
        .iter()
        .map(|p| format!("{}\n{p}\n", p.len()))
        .collect();
    hash::of_bytes(text.concat()).chars().take(16).collect()
}

/// CPU seconds of all child processes that ended.
fn children_cpu_s() -> f64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return 0.0;
    };
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// Linux binaries of Debian's package `user-mode-linux` in PATH: real time only.
pub fn prebuilt() -> Option<PathBuf> {
    find_program("linux.uml")
}

/// The version that a prebuilt binary prints.
pub fn prebuilt_version(path: &Path) -> Option<String> {
    command::output(Command::new(path).arg("--version"))
}
