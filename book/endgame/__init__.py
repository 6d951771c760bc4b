"""Endgame tables in the Syzygy format: probe, rank moves, generate, check; the bundled tables of three and four men."""
