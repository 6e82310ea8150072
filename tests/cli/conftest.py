"""What the tests of commands share: running one, the one line of a mistake, files of rows."""

import json

from tls_tasks.cli import main


def run(command, capsys, *arguments):
    """A command's exit code, and what it printed on both streams; also where argparse ends it."""
    try:
        code = main([command, *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    return code, *capsys.readouterr()


def refused(command, capsys, *arguments, said):
    """Assert that a command fails with one line that says this, and prints nothing else; returns the line."""
    code, out, err = run(command, capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"tls-tasks {command}: ") and said in err and err.count("\n") == 1, err
    return err


def scoring(command, *files):
    """:func:`run` and :func:`refused` of a family's command whose first arguments are the files of these options."""

    def named(given):
        pairs = zip((f"--{name}" for name in files), given, strict=False)
        return [*(word for pair in pairs for word in pair), *given[len(files) :]]

    return (
        lambda capsys, *given: run(command, capsys, *named(given)),
        lambda capsys, *given, said: refused(command, capsys, *named(given), said=said),
    )


def write(path, *rows):
    """A file with a line a row: text as it is, all else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
