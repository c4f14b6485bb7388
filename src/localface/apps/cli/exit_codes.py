"""Exit codes of the command line."""

FOUND = 0
MISUSE = 1
NO_RECOURSE = 3
INTERRUPTED = 130
BROKEN_PIPE = 141

EXIT_CODES = (
    "exit codes: 0 recourse found (or the person is there already), 1 misuse, 3 no recourse"
)
"""What ``--help`` says of them."""
