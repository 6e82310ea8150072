"""``python -m tls_tasks``: the command ``tls-tasks``."""

import sys

from tls_tasks.cli import main

if __name__ == "__main__":
    sys.exit(main())
