"""Kinds of trouble that nobody who writes detectors looks at before the last measurement. Do not describe them elsewhere."""

KINDS = []
