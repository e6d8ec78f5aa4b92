"""The one exception for what the user can correct."""


class InputError(Exception):
    """Something in the input or the options is wrong, and the message says where and how to correct it.

    The message is one line: what is wrong, in which file and line, and what to do. The command line
    prints it and exits with code 2.
    """
