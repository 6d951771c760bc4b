"""Opening books in the Polyglot format: read, build, check; the repertoire and the bundled book."""
