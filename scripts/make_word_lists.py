"""Write ``tls_tasks/text/data`` from the word lists that an installed tilse carries.

    pip install tilse==0.2.1
    python scripts/make_word_lists.py

The two lists are the data that ROUGE-1.5.5 reads with tilse's options: the stop-word list (598 lines, SMART's with
additions by Chin-Yew Lin) and WordNet 2.0's exception lists, which ROUGE-1.5.5 keeps in one Berkeley database. That
database holds a word once, so the order in which the four files were entered matters where they disagree; the shipped
database was made with adjectives before adverbs and nouns before verbs, later entries winning, and this script does the
same.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

ORDER = ("adj.exc", "adv.exc", "noun.exc", "verb.exc")
TARGET = Path(__file__).parent.parent / "tls_tasks" / "text" / "data"


def rouge_data_folder() -> Path:
    """Where the ``pyrouge`` package that tilse installs keeps ROUGE-1.5.5's data."""
    spec = importlib.util.find_spec("pyrouge")
    if spec is None or spec.origin is None:
        raise SystemExit("tilse is not installed: pip install tilse==0.2.1")
    folder = Path(spec.origin).parent / "tools" / "ROUGE-1.5.5" / "data"
    if not folder.is_dir():
        raise SystemExit(f"{folder} is absent: the installed pyrouge is not the one that comes with tilse")
    return folder


def read_exceptions(folder: Path) -> dict[str, str]:
    """Inflected form -> base form; the later file wins."""
    exceptions: dict[str, str] = {}
    for name in ORDER:
        for line in (folder / name).read_text(encoding="ascii").splitlines():
            inflected, base, *_ = line.split()
            exceptions[inflected] = base
    return exceptions


def main() -> None:
    """Write both lists, sorted, one entry a line."""
    source = rouge_data_folder()
    stopwords = {line.strip() for line in (source / "smart_common_words.txt").read_text(encoding="ascii").splitlines()}
    exceptions = read_exceptions(source / "WordNet-2.0-Exceptions")
    (TARGET / "rouge155_stopwords.txt").write_text("\n".join(sorted(stopwords)) + "\n", encoding="ascii")
    lines = [f"{inflected} {base}" for inflected, base in sorted(exceptions.items())]
    (TARGET / "wordnet20_exceptions.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    print(f"{len(stopwords)} different stop words, {len(exceptions)} exceptions -> {TARGET}")


if __name__ == "__main__":
    main()
