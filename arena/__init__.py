"""Who is stronger? Games between UCI engines, matches, tournaments, and what their results mean."""
