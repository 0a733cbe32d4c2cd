//! `tcplab submit --print`: scripts that run the shards of an experiment on a cluster, and merge them. Nothing is submitted.

mod args;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use tcplab_base::quoted;

use args::Scheduler;
pub use args::SubmitArgs;

use crate::failure::Failure;
use crate::screen;

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
    let text = match args.print {
        Scheduler::Slurm => slurm(args, &names),
        Scheduler::K8s => kubernetes(args, &names)?,
        Scheduler::Parallel => parallel(args, &names),
    };
    screen::plain().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
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

fn parallel(args: &SubmitArgs, names: &Names) -> String {
    let (file, out) = (quoted(&names.file), quoted(&names.out));
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
        options = options(args),
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
