"""``python -m calibtest``."""

from calibtest.cli import main

main()
