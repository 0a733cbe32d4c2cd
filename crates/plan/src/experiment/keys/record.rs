//! Structs of a point that are keys of one table, a row each.

/// Makes of one row a field, its key and its place in the table: field and type in the point; the key's constant, name,
/// form, default, meaning and the rules that stand against it.
macro_rules! record {
    (
        $(#[$outer:meta])*
        pub struct $name:ident, $table:ident {$(
            $(#[$attr:meta])*
            $field:ident: $kind:ty = $key:ident, $word:literal, $form:expr, $absent:expr, $meaning:literal, $rules:expr;
        )+}
    ) => {
        $(const $key: $crate::experiment::keys::Key =
            $crate::experiment::keys::key($word, $form, $absent, $meaning).refused($rules);)+

        /// The keys of the struct beside it.
        pub(crate) const $table: &[$crate::experiment::keys::Key] = &[$($key),+];

        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$outer])*
        pub struct $name {$(
            #[doc = $meaning]
            $(#[$attr])*
            pub $field: $kind,
        )+}

        impl Default for $name {
            fn default() -> Self {
                Self {$(
                    $field: $crate::experiment::fields::Taken::absent(&$key).unwrap_or_default(),
                )+}
            }
        }

        impl $name {
            /// What a table of a file says.
            pub(crate) fn read(
                fields: &$crate::experiment::fields::Fields<'_>,
            ) -> Result<Self, $crate::experiment::error::Fault> {
                Ok(Self { $($field: fields.get(&$key)?,)+ })
            }

            /// The keys whose values are not their defaults.
            pub(crate) fn keys_set(&self) -> Vec<&'static str> {
                let usual = Self::default();
                let mut keys = Vec::new();
                $(if self.$field != usual.$field {
                    keys.push($key.name);
                })+
                keys
            }

            /// These values, with those of `other` where this has its defaults.
            #[must_use]
            pub fn or(&self, other: &Self) -> Self {
                let usual = Self::default();
                let mut both = self.clone();
                $(if both.$field == usual.$field {
                    both.$field.clone_from(&other.$field);
                })+
                both
            }

            /// Whether a file could have said it.
            pub(crate) fn check(&self) -> Result<(), $crate::point::Wrong> {
                $($crate::experiment::fields::Taken::check(&self.$field, stringify!($field), &$key)?;)+
                Ok(())
            }
        }
    };
}

pub(super) use record;
