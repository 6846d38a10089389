"""The command line: `autograph-torch convert` and `autograph-torch rule`. Nothing here imports torch."""
