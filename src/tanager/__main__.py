"""The command ``tanager``; also ``python -m tanager``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit; Ctrl-C while it is loaded is no traceback."""
    try:
        from tanager.cli import main as run

        run()
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
