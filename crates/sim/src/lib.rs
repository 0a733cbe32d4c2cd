//! A deterministic simulator of hosts and links. Level 3 of the map.
