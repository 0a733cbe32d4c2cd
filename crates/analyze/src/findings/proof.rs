//! What an experiment said about a finding: plain data. The laboratory makes it (`tcplab analyze --prove`); the analyser
//! never does.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::quantity::micros;

/// Experiment of a finding, and its result.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Proof {
    /// Result of the experiment.
    pub outcome: Outcome,
    /// Why the outcome is not proved or not reproduced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Figure in the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_us: Option<u64>,
    /// Stack that repeated the conversation unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Figure of the experiment, without a cure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_us: Option<u64>,
    /// What the experiment leaves out that can change the figure, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumes: Option<String>,
    /// Cures tried, in the order of the remedies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cures: Vec<Cure>,
    /// Text of a file for `tcplab run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// File of the experiment (`--prove-out`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Proof {
    /// No experiment was made.
    pub fn none(reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::default()
        }
    }

    /// What came out, for a person: the word before it, and the sentence.
    pub fn words(&self) -> (&'static str, String) {
        let reason = self.reason.as_deref().unwrap_or_default();
        match self.outcome {
            Outcome::Proved => ("Proved", self.figures()),
            Outcome::Reduced => ("Proof", format!("Reduced only: {}", self.figures())),
            Outcome::NotReproduced => ("Proof", format!("Not reproduced: {reason}.")),
            Outcome::NotProved => ("Proof", format!("Not proved: {reason}.")),
        }
    }

    /// The first cure that helps, or else that makes the figure smaller, as a sentence, and then the others.
    fn figures(&self) -> String {
        let before = micros(self.before_us.unwrap_or_default());
        let after = |cure: &Cure| cure.after_us.map_or("no figure".to_owned(), micros);
        let mut parts = Vec::new();
        let helps = self.cures.iter().position(|cure| self.helps(cure));
        let first = helps.or_else(|| self.cures.iter().position(|cure| self.is_smaller(cure)));
        let stays = |cure: &Cure| match cure.gone {
            true => "",
            false => ", and the finding stays",
        };
        if let Some(cure) = first.and_then(|n| self.cures.get(n)) {
            let what = self.figure.as_deref().unwrap_or_default();
            let captured = self.captured_us.map(micros).unwrap_or_default();
            parts.push(format!(
                "On the model, {} cuts {before} to {} ({what}; {captured} in the capture){}.",
                cure.change,
                after(cure),
                stays(cure)
            ));
        }
        for (n, cure) in self.cures.iter().enumerate() {
            if first != Some(n) {
                parts.push(format!(
                    "With {}: {}{}.",
                    cure.change,
                    after(cure),
                    stays(cure)
                ));
            }
        }
        parts.extend(self.assumes.clone());
        if let Some(file) = &self.file {
            parts.push(format!("Run it again: `tcplab run {file}`."));
        }
        parts.join(" ")
    }

    /// Whether the finding is gone with this cure, and its figure smaller.
    pub fn helps(&self, cure: &Cure) -> bool {
        cure.gone && self.is_smaller(cure)
    }

    /// Whether its figure is smaller with this cure.
    pub fn is_smaller(&self, cure: &Cure) -> bool {
        let smaller = |after| self.before_us.is_some_and(|before| after < before);
        cure.after_us.is_some_and(smaller)
    }
}

/// Result of the experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Without a cure the finding is there again; with at least one it is gone and the figure is smaller.
    Proved,
    /// The finding is there again. No cure removes it; at least one makes the figure smaller.
    Reduced,
    /// The experiment ran, but the finding or its figure differs, or no cure makes the figure smaller.
    NotReproduced,
    /// The finding has no experiment.
    #[default]
    NotProved,
}

/// A cure and its effect.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cure {
    /// The change, in words.
    pub change: String,
    /// Variant of the experiment.
    pub variant: String,
    /// The stack.
    pub stack: String,
    /// Figure with the cure; absent if the run has no such figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_us: Option<u64>,
    /// The finding is gone.
    pub gone: bool,
}
