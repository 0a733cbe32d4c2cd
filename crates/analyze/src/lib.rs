//! What a capture says about TCP.
