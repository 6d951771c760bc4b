"""How do I talk? The process that GUIs load, and the command line."""

__version__ = "0.1.0"
