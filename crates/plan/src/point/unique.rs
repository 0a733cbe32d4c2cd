//! Maps of JSON whose keys come once: of two values for one key nobody knows which was meant.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Reads a map and refuses a key that comes twice.
pub(super) fn map<'de, D, V>(from: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    from.deserialize_map(Unique(PhantomData))
}

struct Unique<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((key, value)) = from.next_entry::<String, V>()? {
            match map.entry(key) {
                Entry::Vacant(place) => _ = place.insert(value),
                Entry::Occupied(there) => {
                    let key: String = there.key().chars().take(40).collect();
                    return Err(A::Error::custom(format!("`{key}` is there twice")));
                }
            }
        }
        Ok(map)
    }
}
