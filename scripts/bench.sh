#!/usr/bin/env bash
# Measures the program as it is handed out (profile `dist`) on the trace of benches/make_trace.py, which is made
# first when it is not there. See benches/README.md for what the figures mean.

. "$(dirname "$0")/lib.sh"

bash scripts/setup.sh test
python3 benches/make_trace.py
python3 benches/analyze.py
python3 benches/memory.py
