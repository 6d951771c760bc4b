"""Can it be looked up instead? Polyglot books for the opening, Syzygy tables for the ending."""
