//! Restricts a guest to its own folders on this machine (landlock(7)).
//!
//! A guest's root can mount any folder of the host through hostfs, with the rights of the guest's process. A guest
//! started by root runs as nobody; without this restriction, a user's guest would have all rights of that user.

use std::path::Path;

use landlock::{
    ABI, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, path_beneath_rules,
};

/// Denies this process and its children to write anywhere but beneath `folders`. Gives whether the
/// kernel can do so: landlock came with Linux 5.13 and may be switched off.
pub(super) fn writes_only_to(folders: &[&Path]) -> Result<bool, String> {
    let abi = ABI::V1;
    let rules = path_beneath_rules(folders, AccessFs::from_write(abi));
    let device = path_beneath_rules(["/dev/null"], AccessFs::WriteFile);
    let done = Ruleset::default()
        .handle_access(AccessFs::from_write(abi))
        .and_then(Ruleset::create)
        .and_then(|created| created.add_rules(rules))
        .and_then(|created| created.add_rules(device))
        .and_then(|created| created.restrict_self());
    match done {
        Ok(status) => Ok(status.ruleset != RulesetStatus::NotEnforced),
        Err(e) => Err(format!("cannot confine the guest: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn nothing_else_can_be_written() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (own.path().join("a"), other.path().join("b"));
        // The rules bind the thread that makes them.
        let confined = std::thread::spawn({
            let (own, inside, outside) = (own.path().to_owned(), inside.clone(), outside.clone());
            move || {
                let enforced = writes_only_to(&[&own]).unwrap();
                fs::write(inside, "x").unwrap();
                enforced.then(|| fs::write(outside, "x").is_err())
            }
        });
        match confined.join().unwrap() {
            None => eprintln!("skipped: this kernel has no Landlock"),
            Some(refused) => {
                assert!(refused && !outside.exists());
                assert!(fs::write(&outside, "x").is_ok(), "other threads stay free");
            }
        }
        assert!(inside.exists());
    }
}
