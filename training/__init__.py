"""How does it learn? Records of games, and the tuner of the classical weights."""
