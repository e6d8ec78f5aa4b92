"""classgram learns word classes from text and builds class-based n-gram language models."""

from classgram._version import __version__

__all__ = ["__version__"]
