"""How do people use it without a GUI? Games against a person, analysis, review of games, suites of positions."""
