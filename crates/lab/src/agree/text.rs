//! Values of a packet's fields as a person reads them.

/// A value as text.
pub(super) trait Text {
    /// The text.
    fn text(&self) -> String;
}

macro_rules! plain {
    ($($of:ty),*) => { $(impl Text for $of {
        fn text(&self) -> String {
            self.to_string()
        }
    })* };
}

plain!(i64, u32, u16, u8, bool);

impl<T: Text> Text for Option<T> {
    fn text(&self) -> String {
        self.as_ref().map_or("none".to_owned(), T::text)
    }
}

/// SACK blocks, each `left:right`.
impl Text for Vec<(i64, i64)> {
    fn text(&self) -> String {
        let blocks = self.iter().map(|(left, right)| format!("{left}:{right}"));
        match self.is_empty() {
            true => "none".to_owned(),
            false => blocks.collect::<Vec<_>>().join(" "),
        }
    }
}
