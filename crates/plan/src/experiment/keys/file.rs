//! Keys of the file itself, and of `[[variant]]`.

use super::{Form, HOST, Key, LINK, MUST, REPORT, RUN, fixed, says};

pub(crate) const SCHEMA: Key = fixed("schema", Form::Words(&[crate::experiment::SCHEMA]), says("this one"), "format version");
pub(crate) const NAME: Key = fixed("name", Form::Name, says("the file's name"), "name in results");
pub(crate) const TITLE: Key = fixed("title", Form::Text, says("none"), "question that the file answers");
pub(crate) const MEASURES: Key = fixed("measures", Form::Texts, says("the applications' measures"), "measures to show, in this order");

/// The file.
pub(crate) const FILE: &[Key] = &[
    SCHEMA, NAME, TITLE, MEASURES,
    fixed("run", Form::Table(RUN), says("the defaults below"), "settings of the run"),
    fixed("host", Form::Tables(HOST), says("`client` and `server`"), "the hosts"),
    fixed("link", Form::Tables(LINK), says("two hosts: one link without delay"), "the links between them"),
    fixed("app", Form::Apps, MUST, "the applications; at least one"),
    fixed("variant", Form::Tables(VARIANT), says("none"), "changes of the file, each run on its own"),
    fixed("report", Form::Table(REPORT), says("the first two axes and the first measure"), "what tables and pages of results show first"),
];

pub(crate) const VARIANT_NAME: Key = fixed("name", Form::Name, MUST, "name of the variant");
pub(crate) const SET: Key = fixed("set", Form::Set, says("nothing"), "values by key path: `app.NAME.KEY`, `host.NAME.KEY`, `link.A-B.KEY`, `run.KEY`");

/// `[[variant]]`.
pub(crate) const VARIANT: &[Key] = &[VARIANT_NAME, SET];
