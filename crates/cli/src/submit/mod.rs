//! `tcplab submit --print`: scripts that run the shards of an experiment on a cluster, and merge them. Nothing is submitted.

mod args;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tcplab_base::quoted;
use tcplab_plan::Population;

use args::Scheduler;
pub use args::SubmitArgs;

use crate::failure::Failure;
use crate::{exit, screen};

/// Prints the script.
pub fn main(args: &SubmitArgs) -> Result<ExitCode, Failure> {
    let reserved = [
        "--shard", "--out", "--jobs", "-j", "--points", "--dask", "--json",
    ];
    let is_reserved = |word: &&String| {
        let name = word.split('=').next().unwrap_or_default();
        reserved.contains(&name)
    };
    if let Some(word) = args.options.iter().find(is_reserved) {
        return Err(Failure::usage(format!(
            "{word}: the script sets this by itself: use --shards, --out or --cpus of `tcplab submit`"
        )));
    }
    let names = Names::new(args)?;
    check_options(args, &names)?;
    check_stop(args)?;
    let text = match args.print {
        Scheduler::Slurm => slurm(args, &names),
        Scheduler::K8s => kubernetes(args, &names)?,
        Scheduler::Parallel => parallel_script(args, &names),
    };
    screen::plain().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses options that every shard would refuse. The experiment itself may be on the cluster only.
fn check_options(args: &SubmitArgs, names: &Names) -> Result<(), Failure> {
    let own = [
        "tcplab".to_owned(),
        "run".to_owned(),
        names.file.clone(),
        format!("--shard=1/{}", args.shards),
        format!("--jobs={}", args.cpus),
        format!("--out={}", names.out),
    ];
    match exit::command().try_get_matches_from(own.iter().chain(&args.options)) {
        Ok(_) => Ok(()),
        Err(e) if !e.use_stderr() => Err(Failure::usage(
            "after `--` are options of `tcplab run` for every shard: --help and --version run nothing",
        )),
        Err(e) => {
            let text = e.to_string();
            let why = text.lines().next().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            Err(Failure::usage(format!(
                "the options after `--` are for `tcplab run`, which refuses them: {why}"
            )))
        }
    }
}

/// Refuses a population that ends early, as every shard would. A file that is on the cluster only, or that cannot be
/// read, is left to the shards.
fn check_stop(args: &SubmitArgs) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(&args.experiment) else {
        return Ok(());
    };
    if !Population::is_population(&text) {
        return Ok(());
    }
    let name = crate::files::name_of(&args.experiment);
    let plain = Population::parse(&name, &text).into_iter();
    let variants = Population::variants(&name, &text).into_iter().flatten();
    match plain.chain(variants).any(|one| one.compare.stops) {
        true => Err(Failure::input(format!(
            "{name}: a shard cannot use `stop = \"decided\"`, which needs the results of all shards: remove `stop` from [compare]"
        ))),
        false => Ok(()),
    }
}

/// What a script calls things.
struct Names {
    /// Of the job: letters, digits and dashes.
    job: String,
    /// The experiment.
    file: String,
    /// The folder of the shards.
    out: String,
}

impl Names {
    fn new(args: &SubmitArgs) -> Result<Self, Failure> {
        let text = |path: &Path| {
            let text = path
                .to_str()
                .filter(|text| !text.contains(char::is_control));
            let wrong =
                || Failure::usage(format!("{}: this name is not plain text", path.display()));
            text.map(str::to_owned).ok_or_else(wrong)
        };
        let file = text(&args.experiment)?;
        let stem = text(Path::new(args.experiment.file_stem().unwrap_or_default()))?;
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        let job: String = stem.chars().map(plain).take(40).collect();
        Ok(Self {
            job: format!("tcplab-{}", job.trim_matches('-')),
            out: args
                .out
                .as_deref()
                .map_or(Ok(format!("{stem}-shards")), text)?,
            file,
        })
    }
}

/// Words of a shell's line.
fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word for GNU parallel's command, which it joins and gives to a shell of its own: quoted for that one and for ours.
/// What parallel would replace (`{}`, `{#}`) is taken apart.
fn quoted_twice(word: &str) -> String {
    let once = match quoted(word) == word {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''").replace('{', "{''")),
    };
    quoted(&once)
}

/// The options of every shard, after a space.
fn options(args: &SubmitArgs) -> String {
    match args.options.is_empty() {
        true => String::new(),
        false => format!(" {}", line(&args.options)),
    }
}

fn slurm(args: &SubmitArgs, names: &Names) -> String {
    let (file, out) = (quoted(&names.file), quoted(&names.out));
    format!(
        "\
#!/bin/sh
# Submit both: the array, and the merge when all of it is done.
#   job=$(sbatch --parsable THIS)
#   sbatch --dependency=afterok:$job --job-name={job}-merge --wrap {merge}
# A shard that was killed resumes: sbatch --array=I THIS
#SBATCH --job-name={job}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cpus}
#SBATCH --mem={memory}M
#SBATCH --time={time}
#SBATCH --output={job}-%A-%a.log
#SBATCH --requeue
set -eu
exec tcplab run {file}{options} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --jobs {cpus} \\
  --out {out}/shard-\"$SLURM_ARRAY_TASK_ID\"
",
        job = names.job,
        merge = quoted(&merge(names)),
        shards = args.shards,
        cpus = args.cpus,
        memory = args.memory,
        time = args.time,
        options = options(args),
    )
}

/// The line that merges.
fn merge(names: &Names) -> String {
    let out = quoted(&names.out);
    format!(
        "tcplab merge {out} --out {}",
        quoted(&format!("{}-all", names.out))
    )
}

fn parallel_script(args: &SubmitArgs, names: &Names) -> String {
    let (file, out) = (quoted_twice(&names.file), quoted_twice(&names.out));
    let options = args.options.iter();
    let options: String = options
        .map(|word| format!(" {}", quoted_twice(word)))
        .collect();
    format!(
        "\
#!/bin/sh
# Shards run on this machine's CPUs, or with --sshlogin HOSTS on machines that see this folder. The same line resumes.
set -eu
seq {shards} | parallel --halt soon,fail=1 --workdir . \\
  tcplab run {file}{options} --shard {{}}/{shards} --jobs {cpus} --out {out}/shard-{{}} '>' /dev/null
{merge}
",
        shards = args.shards,
        cpus = args.cpus,
        merge = merge(names),
    )
}

/// The image has no shell: Kubernetes puts the index into the arguments.
fn kubernetes(args: &SubmitArgs, names: &Names) -> Result<String, Failure> {
    if names.file.starts_with('/') || names.out.starts_with('/') {
        return Err(Failure::usage(
            "k8s: EXPERIMENT and --out are paths below /work, where the claim is mounted",
        ));
    }
    // `$(NAME)` would be a variable.
    let plain = |word: &str| word.replace("$(", "$$(");
    let mut run = vec!["run".to_owned(), plain(&names.file)];
    run.extend(args.options.iter().map(|word| plain(word)));
    run.extend([
        format!("--shard=index:$(JOB_COMPLETION_INDEX)/{}", args.shards),
        format!("--jobs={}", args.cpus),
        format!("--out={}/shard-$(JOB_COMPLETION_INDEX)", plain(&names.out)),
    ]);
    let merge = [
        "merge",
        &plain(&names.out),
        "--out",
        &format!("{}-all", plain(&names.out)),
    ];
    let merge: Vec<String> = merge.iter().map(ToString::to_string).collect();
    let job = &names.job;
    let indexed = format!(
        "  completionMode: Indexed\n  completions: {0}\n  parallelism: {0}\n  backoffLimitPerIndex: 5\n",
        args.shards
    );
    Ok(format!(
        "\
# kubectl apply -f THIS; the second Job waits: when the first one is complete, start it by
#   kubectl wait --for=condition=complete --timeout=-1s job/{job} && kubectl patch job {job}-merge -p '{{\"spec\":{{\"suspend\":false}}}}'
{}---
{}",
        pods(args, job, &indexed, &run)?,
        pods(args, &format!("{job}-merge"), "  suspend: true\n", &merge)?,
    ))
}

/// A Job that runs the image with these arguments.
fn pods(args: &SubmitArgs, name: &str, spec: &str, words: &[String]) -> Result<String, Failure> {
    // JSON is YAML.
    let words = serde_json::to_string(words).map_err(std::io::Error::from)?;
    let [image, claim] = [&args.image, &args.claim].map(|text| serde_json::json!(text));
    Ok(format!(
        "\
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
{spec}  template:
    spec:
      restartPolicy: Never
      containers:
        - name: tcplab
          image: {image}
          workingDir: /work
          args: {words}
          resources:
            requests: {{cpu: {cpus}, memory: {memory}Mi}}
          volumeMounts:
            - {{name: work, mountPath: /work}}
      volumes:
        - name: work
          persistentVolumeClaim: {{claimName: {claim}}}
",
        cpus = args.cpus,
        memory = args.memory,
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SubmitArgs,
    }

    fn line(words: &[&str]) -> (SubmitArgs, Names) {
        let own = ["submit", "--print", "parallel", "--shards", "2"];
        let args = Line::parse_from(own.iter().chain(words)).args;
        let names = Names::new(&args).unwrap();
        (args, names)
    }

    /// A program of a folder, as a script.
    fn program(folder: &Path, name: &str, script: &str) {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn names_reach_the_shards_through_both_shells_of_parallel() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        // As GNU parallel does it: options, then words that are joined; `{}` and `{#}` are replaced; a shell runs the line.
        let parallel = "shift 4; line=\"$*\"; while read n; do\n\
             sh -c \"$(printf %s \"$line\" | sed \"s/{}/$n/g; s/{#}/$n/g\")\" || exit; done\n";
        program(folder.path(), "parallel", parallel);
        // The shards print nothing: the script sends that away.
        let tcplab = format!("printf '<%s>' \"$@\" >> '{}'\n", log.display());
        program(folder.path(), "tcplab", &tcplab);
        let bad = "a b;c'd$e&f{}g{#}.toml";
        let (args, names) = line(&[bad, "--", "--connections", "1 000"]);
        let script = parallel_script(&args, &names);
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let done = Command::new("sh")
            .args(["-c", &script])
            .env("PATH", path)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{script}\n{done:?}");
        let stem = bad.strip_suffix(".toml").unwrap();
        let shard = |n: u32| {
            format!(
                "<run><{bad}><--connections><1 000><--shard><{n}/2><--jobs><1><--out><{stem}-shards/shard-{n}>"
            )
        };
        let merge = format!("<merge><{stem}-shards><--out><{stem}-shards-all>");
        let expected = format!("{}{}{merge}", shard(1), shard(2));
        assert_eq!(fs::read_to_string(log).unwrap(), expected, "{script}");
    }

    #[test]
    fn plain_names_are_as_they_were() {
        let (args, names) = line(&["rto.toml"]);
        let script = parallel_script(&args, &names);
        let words = "tcplab run rto.toml --shard {}/2 --jobs 1 --out rto-shards/shard-{} '>'";
        assert!(script.contains(words), "{script}");
    }

    #[test]
    fn population_that_every_shard_refuses_is_refused_here() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("p.toml");
        let check = |compare: &str| {
            let text = format!("[population]\n[compare]\n{compare}\n[[arm]]\nname = \"B\"\n");
            std::fs::write(&file, text).unwrap();
            let (args, _) = line(&[file.to_str().unwrap()]);
            check_stop(&args)
        };
        assert!(check("band = \"2%\"").is_ok());
        let refused = check("stop = \"decided\"").unwrap_err();
        assert!(
            refused.message.contains("remove `stop`"),
            "{}",
            refused.message
        );
        std::fs::remove_file(&file).unwrap();
        let (args, _) = line(&[file.to_str().unwrap()]);
        assert!(check_stop(&args).is_ok());
    }

    #[test]
    fn options_that_every_shard_refuses_are_refused_here() {
        for bad in [
            &["--nosuch"][..],
            &["--connections"],
            &["--connections", "many"],
            &["other.toml", "--nosuch=1"],
            &["--help"],
        ] {
            let (args, names) = line(&[&["rto.toml", "--"], bad].concat());
            let refused = check_options(&args, &names).unwrap_err();
            assert!(refused.message.contains("tcplab run"), "{bad:?}");
        }
        let (args, names) = line(&["rto.toml", "--", "--connections", "1000", "--seed=5"]);
        assert!(check_options(&args, &names).is_ok());
    }
}
