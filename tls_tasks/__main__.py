"""``python -m tls_tasks`` and the installed commands: Ctrl-C shows no traceback, while they are imported too."""

import importlib
import sys


def main(module: str = "tls_tasks.cli") -> int:
    """The command ``tls-tasks``, or that of another module."""
    try:
        code: int = importlib.import_module(module).main()
    except KeyboardInterrupt:
        return 130
    return code


def report_eval() -> int:
    """The command ``report-eval``."""
    return main("tls_tasks.cli.reports")


if __name__ == "__main__":
    sys.exit(main())
