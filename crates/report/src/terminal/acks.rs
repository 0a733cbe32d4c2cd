//! `--acks`: one row for each ACK of new data.
