"""The command line: one short function a command, which calls one library function and prints."""
