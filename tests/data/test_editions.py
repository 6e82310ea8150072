"""The fingerprints in editions.json: recomputed where the data is at hand, and the status that follows from them."""

import json
import shutil

import pytest

import tls_tasks
from tls_tasks.data.editions import EDITIONS_FILE, Edition, golds_hash, read_editions, status
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.hosts.discovery import data_sets
from tls_tasks.registry import FAMILIES

pytestmark = [pytest.mark.usefixtures("isolated"), pytest.mark.filterwarnings("ignore")]

PINNED = json.loads(EDITIONS_FILE.read_text(encoding="utf-8"))
SELF_CONTAINED = {"evidence_journals", "tree_extraction", "tree_grounded"}
SAME = {"tree_grounded": "tree_extraction"}


def loaded(task, **options):
    provenance = {}
    documents = tls_tasks.task(task).documents(provenance=provenance, **options)
    golds = golds_hash((document["doc_id"], tls_tasks.task(task).target(document)) for document in documents)
    return Edition("embedded", provenance["fingerprint"], len(documents), golds), provenance.get("data")


def all_sets():
    return {name: data_set for family in FAMILIES for name, data_set in data_sets(family).items()}


@pytest.mark.parametrize("name", PINNED)
def test_the_embedded_edition_has_the_pinned_fingerprint_wherever_it_lies(name, tmp_path):
    assert loaded(name, edition="embedded") == (read_editions(name)["embedded"], None)
    shutil.copytree(EMBEDDED / SAME.get(name, name), tmp_path / SAME.get(name, name))
    assert loaded(name, data=str(tmp_path)) == (
        read_editions(name)["embedded"],
        None if name in SELF_CONTAINED else "embedded",
    )


@pytest.mark.parametrize(
    ("name", "folder", "label"),
    [("tls_crisis", "crisis", "topics with articles"), ("tls_open", "open_tls", "references only")],
)
def test_the_real_data_has_the_pinned_fingerprint(shared_data, name, folder, label):
    found, called = loaded(f"{name}_closed_book", data=str(shared_data / folder))
    pinned = read_editions(name)[label]
    assert called is None and (found.fingerprint, found.documents, found.golds) == (
        pinned.fingerprint,
        pinned.documents,
        pinned.golds,
    )


def test_every_public_data_set_has_an_entry():
    known = {name: data_set for name, data_set in all_sets().items() if not data_set.custom}
    assert known.keys() == PINNED.keys()
    assert {name for name, data_set in known.items() if data_set.self_contained} == SELF_CONTAINED
    lacking = {name for name, data_set in known.items() if data_set.hub is not None}
    assert {name for name, editions in PINNED.items() if None in editions.values()} == lacking


def test_the_status_follows_from_content_and_place():
    sets = all_sets()
    crisis, journals = sets["tls_crisis"], sets["evidence_journals"]
    real = PINNED["tls_crisis"]["references only"]["fingerprint"]
    ours = PINNED["tls_crisis"]["embedded"]["fingerprint"]
    assert status(crisis, real, "local") == "known data"
    assert status(crisis, ours, "hub", trusted=True) == "embedded"  # whatever it is said to be
    assert status(crisis, "0" * 64, "local") == "unknown data"
    assert status(crisis, "0" * 64, "hub", trusted=True) == "known data"
    assert status(crisis, "", "embedded") == "embedded"  # an old log
    assert status(journals, PINNED["evidence_journals"]["embedded"]["fingerprint"], "embedded") == "known data"
    assert status(journals, "0" * 64, "embedded") == "unknown data"
    assert status(sets["tls_custom"], real, "local") == "unknown data"
