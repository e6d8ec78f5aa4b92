"""How work runs: progress, threads, signals, compiled code. Nothing here knows of language."""
