"""``python -m tls_tasks``: the same as ``tls-tasks``."""

from __future__ import annotations

import sys

from tls_tasks.cli import main

if __name__ == "__main__":
    sys.exit(main())
