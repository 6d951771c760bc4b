"""The conformance check of UCI engines: what the protocol says and what GUIs expect, case by case."""
