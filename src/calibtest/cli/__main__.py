"""``python -m calibtest.cli``, the same as ``calibtest``."""

from calibtest.cli.program import main

if __name__ == "__main__":
    main(prog_name="calibtest")
