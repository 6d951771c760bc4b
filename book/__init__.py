"""Can I look it up instead? Polyglot books for the opening, Syzygy tables for the ending."""
