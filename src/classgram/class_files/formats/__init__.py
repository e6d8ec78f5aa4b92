"""Class-file formats, a module each under the format's name: reader, writer and the entry ``FORMAT``."""
