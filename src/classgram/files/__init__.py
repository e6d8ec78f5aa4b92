"""Results and texts on disk: folders that are whole or absent, and compressed files."""
