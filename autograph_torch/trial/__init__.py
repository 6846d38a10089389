"""Running the user's code on request: `--example` and `--verify`. Nothing else in the package imports what it converts.

Everything here runs in a process of its own (child.py), started by parent.py; the command line never imports torch.
"""
