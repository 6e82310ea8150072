"""Make sacrebleu_wmt17.npz: BLEU's statistics by sentence of the systems in sacrebleu's own test of significance.

    python tests/oracles/make_sacrebleu_wmt17.py test/wmt17_en_de_systems.pkl.bz2   # of sacrebleu's repository

Only numbers are kept: for each system and sentence the lengths of output and reference, and the matches and totals of
1- to 4-grams.
"""

import bz2
import pickle
import sys
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU

SYSTEMS = ("LIUM-NMT.4900", "FBK.4870", "LMU-nmt-reranked.4934", "online-B.0")


class Plain(pickle.Unpickler):
    """Lists, tuples and texts only: a foreign pickle runs nothing."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}")


def main(source):
    with bz2.open(source) as file:
        *systems, (_, references) = Plain(file).load()
    metric, outputs = BLEU(references=references, tokenize="none"), dict(systems)
    statistics = [metric._extract_corpus_statistics(outputs[f"newstest2017.{name}.en-de"], None) for name in SYSTEMS]
    target = Path(__file__).with_name("sacrebleu_wmt17.npz")
    np.savez_compressed(target, systems=np.array(SYSTEMS), statistics=np.array(statistics, dtype=np.int16))


if __name__ == "__main__":
    main(sys.argv[1])
