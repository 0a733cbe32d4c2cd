//! One build from beginning to end: source, unedited kernel, edited kernel, store.

use std::path::PathBuf;
use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};
use tcplab_os::output::write_own;

use super::command::{self, Log};
use super::make::{self, Make};
use super::source::{self, Tree};
use super::{BuildError, Built, Origin, Request, Step, folder_name, hash, overlay, package, tools};
use crate::edit::{Edit, Edits};
use crate::stack::UmlName;
use crate::store::{Lock, Manifest, Store, UmlKernel};

/// Room that unpacking a source and building it takes.
const DISK_FIRST: u64 = 3_000_000_000;

/// Room that another build from the same source takes.
const DISK_NEXT: u64 = 500_000_000;

/// One request while it is worked on, under the lock of its source.
pub(super) struct Builder<'a> {
    store: &'a Store,
    request: &'a Request,
    lock: &'a Lock,
    always: Edits,
}

/// A source that was found but perhaps not unpacked.
enum Found {
    Package(package::Tarball, String),
    Tree(Tree),
}

/// What was compiled.
struct Product<'a> {
    key: String,
    edits: &'a Edits,
    names: Vec<String>,
    /// CPU seconds of child processes before it was compiled.
    before: f64,
}

impl<'a> Builder<'a> {
    /// Begins.
    pub(super) fn new(
        store: &'a Store,
        request: &'a Request,
        lock: &'a Lock,
    ) -> Result<Self, BuildError> {
        let always = Edits::always()?;
        Ok(Self {
            store,
            request,
            lock,
            always,
        })
    }

    /// Builds the kernel, or finds it.
    pub(super) fn run(&self, step: &mut dyn FnMut(Step)) -> Result<Built, BuildError> {
        let found = self.find_source(step)?;
        let sum = match &found {
            Found::Package(_, sum) => sum,
            Found::Tree(tree) => &tree.source.sha256,
        };
        let key = self.key(sum, &self.request.edits);
        let there = self.store.by_key(&key);
        if let Some(kernel) = there.filter(|k| k.manifest.is_current()) {
            let names = self.names(&kernel.manifest.version, &self.request.edits);
            let kernel = self.store.name(self.lock, &key, &names)?;
            return Ok(Built {
                kernel,
                was_there: true,
                cpu_s: 0.0,
            });
        }
        let began = children_cpu_s();
        if self.request.install {
            tools::install(&mut self.log("install")?)?;
        }
        tools::check()?;
        let tree = self.tree(found, step)?;
        let base = self.base(&tree, step)?;
        let kernel = match base {
            Some(kernel) if self.request.edits.is_empty() => kernel,
            _ => self.edited(&tree, key, step)?,
        };
        Ok(Built {
            kernel,
            was_there: false,
            cpu_s: children_cpu_s() - began,
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
                        package::fetch(
                            self.store,
                            &wanted,
                            &mut self.log(&format!("{}-fetch", wanted.package()))?,
                        )?
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
                let mut log = self.log(&format!("{}-unpack", tarball.package))?;
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

    /// The kernel without edits; its build folder is what edited ones start from. It goes into
    /// the store when it has a name there.
    fn base(
        &self,
        tree: &Tree,
        step: &mut dyn FnMut(Step),
    ) -> Result<Option<UmlKernel>, BuildError> {
        let none = Edits::default();
        let key = self.key(&tree.source.sha256, &none);
        let make = self.make(tree, self.base_folder(tree));
        let log_name = format!("{}-hz{}", tree.id, self.request.hz);
        let before = children_cpu_s();
        // The mark is there from the end of one build to the begin of the next.
        let mark = make.folder.join("tcplab.key");
        if !std::fs::read_to_string(&mark).is_ok_and(|old| old == key) {
            crate::store::remove(&mark)?;
            step(Step::Phase(&self.title(tree, "")));
            let mut log = self.log(&log_name)?;
            let is_first = !make.folder.join("linux").is_file();
            make.configure(self.request.hz, &mut log)?;
            make.compile(is_first, &mut log, step)?;
            write_own(&mark, &key).map_err(BuildError::io(&mark))?;
        }
        let names = self.names(&tree.version, &none);
        if names.is_empty() {
            return Ok(None);
        }
        let there = self.store.by_key(&key);
        if there.is_some_and(|k| k.manifest.is_current()) {
            return Ok(Some(self.store.name(self.lock, &key, &names)?));
        }
        let mut log = self.log(&format!("{log_name}-strip"))?;
        let product = Product {
            key,
            edits: &none,
            names,
            before,
        };
        self.put(&make, product, &mut log).map(Some)
    }

    /// The kernel with the edits.
    fn edited(
        &self,
        tree: &Tree,
        key: String,
        step: &mut dyn FnMut(Step),
    ) -> Result<UmlKernel, BuildError> {
        let edits = &self.request.edits;
        let with = format!(" with {}", edits.names().join(" and "));
        step(Step::Phase(&self.title(tree, &with)));
        let before = children_cpu_s();
        let make = self.make(
            tree,
            self.store.root().join(format!("build/{}-edited", tree.id)),
        );
        crate::store::remove(&make.folder)?;
        let mut log = self.log(&format!("{}-hz{}-edited", tree.id, self.request.hz))?;
        let mut copy = Command::new("cp");
        copy.args(["-a", "--reflink=auto"]);
        copy.arg(self.base_folder(tree)).arg(&make.folder);
        log.run("copying the build folder", &mut copy, |_| ())?;
        let overlay = overlay::Overlay::apply(&tree.path, edits)?;
        make.compile(false, &mut log, step)?;
        overlay.undo()?;
        let names = self.names(&tree.version, edits);
        let product = Product {
            key,
            edits,
            names,
            before,
        };
        let kernel = self.put(&make, product, &mut log)?;
        crate::store::remove(&make.folder)?;
        Ok(kernel)
    }

    fn title(&self, tree: &Tree, with: &str) -> String {
        format!("Linux {} at {} Hz{with}", tree.version, self.request.hz)
    }

    /// Puts what was compiled into the store.
    fn put(&self, make: &Make, product: Product, log: &mut Log) -> Result<UmlKernel, BuildError> {
        let binary = make.folder.join("linux.stripped");
        let config_sha256 = make.strip(&binary, log)?;
        let compiler = command::output(Command::new("gcc").arg("--version")).unwrap_or_default();
        let cpu_s = children_cpu_s() - product.before;
        let manifest = Manifest {
            schema: crate::store::MANIFEST_SCHEMA.to_owned(),
            key: product.key,
            names: product.names,
            version: make.tree.version.clone(),
            hz: self.request.hz,
            edits: product.edits.names().to_vec(),
            every_build: Edit::names_of_every_build()
                .into_iter()
                .map(str::to_owned)
                .collect(),
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
        let request = self.request;
        let name = |base: &str| {
            UmlName::new(base.to_owned(), edits.names().to_vec(), request.hz).to_string()
        };
        let is_asked = edits.names() == request.edits.names();
        let mut names = Vec::new();
        match &request.origin {
            Origin::Package(wanted) => {
                names.push(name(wanted));
                if wanted != version {
                    names.push(name(version));
                }
            }
            Origin::Folder(folder) if request.name.is_none() => {
                names.extend(folder_name(folder).as_deref().map(name));
            }
            Origin::Folder(_) => (),
        }
        names.extend(request.name.clone().filter(|_| is_asked));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Edit;

    fn edits(names: &[&str]) -> Edits {
        Edits::new(names.iter().map(|n| Edit::load(n).unwrap()).collect()).unwrap()
    }

    #[test]
    fn key_differs_for_every_different_build() {
        let always = Edits::always().unwrap();
        let none = Edits::default();
        let keys = [
            key("a", &always, &none, 250),
            key("b", &always, &none, 250),
            key("a", &none, &none, 250),
            key("a", &always, &none, 1000),
            key("a", &always, &edits(&["mss-boundary"]), 250),
            key("a", &always, &edits(&["quickack-count"]), 250),
            key("a", &always, &edits(&["quickack-6.1.56"]), 250),
            key("a", &always, &edits(&["el8-receiver"]), 250),
            key("a", &always, &edits(&["recovlat"]), 250),
            key("a", &always, &edits(&["rto-choice"]), 250),
            key("a", &always, &edits(&["rto-D"]), 250),
            key("a", &always, &edits(&["rto-R"]), 250),
            key("a", &always, &edits(&["rto-Y"]), 250),
            key("a", &always, &edits(&["rto-Y4"]), 250),
            key("a", &always, &edits(&["tlp-2016"]), 250),
        ];
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
        assert!(keys.iter().all(|k| k.len() == 16));
    }

    #[test]
    fn the_same_changes_under_another_name_have_the_same_key() {
        let always = Edits::always().unwrap();
        let both = key(
            "a",
            &always,
            &edits(&["mss-boundary", "quickack-count"]),
            250,
        );
        assert_eq!(key("a", &always, &edits(&["quickack-6.1.56"]), 250), both);
    }

    #[test]
    fn names_of_a_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let lock = store.lock("a test", |_| ()).unwrap();
        let tree = folder.path().join("net-next");
        std::fs::create_dir(&tree).unwrap();
        let names = |origin: Origin, asked: &[&str], hz, name: Option<&str>, of: &[&str]| {
            let name = name.map(str::to_owned);
            let request = Request {
                origin,
                edits: edits(asked),
                hz,
                name,
                jobs: 1,
                install: false,
            };
            let builder = Builder::new(&store, &request, &lock).unwrap();
            builder.names("6.1.192", &edits(of)).join(" ")
        };
        let package = || Origin::Package("6.1".into());
        let tree = || Origin::Folder(tree.clone());
        let m = ["mss-boundary"];
        assert_eq!(names(package(), &[], 250, None, &[]), "6.1 6.1.192");
        assert_eq!(
            names(Origin::Package("6.1.192".into()), &[], 250, None, &[]),
            "6.1.192"
        );
        let long = "6.1+mss-boundary@1000 6.1.192+mss-boundary@1000";
        assert_eq!(names(package(), &m, 1000, None, &m), long);
        // The given name belongs to the kernel that was asked for, not to the one below it.
        assert_eq!(names(package(), &m, 250, Some("x"), &[]), "6.1 6.1.192");
        assert!(names(package(), &m, 250, Some("x"), &m).ends_with(" x"));
        assert_eq!(names(tree(), &m, 250, None, &m), "net-next+mss-boundary");
        assert_eq!(names(tree(), &m, 250, Some("x"), &m), "x");
        assert_eq!(names(tree(), &m, 250, Some("x"), &[]), "");
    }
}
