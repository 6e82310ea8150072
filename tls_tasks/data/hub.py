"""Files and rows of the Hugging Face hub: from the local cache first, then from the network, if it may be used."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError


def fetch(repo_id: str, revision: str, file: str) -> Path:
    """Return the path of a data set repository's file in the local cache, downloading it if the network may be used.

    Args:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        file: The file's path in the repository.

    Raises:
        DataError: If it is not in the cache and can't be downloaded; the message says why.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.utils import LocalEntryNotFoundError

    request = {"repo_id": repo_id, "filename": file, "repo_type": "dataset", "revision": revision}
    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(**request, local_files_only=True))
    switches = [os.environ.get(variable, "").upper() for variable in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")]
    if not {"1", "ON", "YES", "TRUE"}.isdisjoint(switches):
        raise DataError(f"{repo_id}: {file} is not in the cache, and the hub is switched off (HF_HUB_OFFLINE)")
    try:
        # With the network down this look fails at once, while the download would try again for 20 seconds.
        get_hf_file_metadata(hf_hub_url(**request), timeout=10)
        return Path(hf_hub_download(**request))
    except Exception as error:
        # Each release of huggingface_hub raises what its HTTP client does, without a common base; none may end the run.
        raise DataError(f"{repo_id}: {file} can't be downloaded: {_one_line(error)}") from error


def is_cached(repo_id: str, revision: str, file: str) -> bool:
    """Return whether a file of a data set repository is in the local cache."""
    from huggingface_hub import constants  # other modules of the package import an HTTP client

    repository = f"datasets--{repo_id.replace('/', '--')}"
    return Path(constants.HF_HUB_CACHE, repository, "snapshots", revision, file).is_file()


def split_rows(repo_id: str, revision: str | None) -> Iterable[Mapping[str, Any]]:
    """Return the rows of the split ``test`` of a data set that the user named.

    Raises:
        DataError: If there is no such data set, or it can't be read.
    """
    import datasets

    try:
        rows: Iterable[Mapping[str, Any]] = datasets.load_dataset(repo_id, revision=revision, split="test")
    except Exception as error:
        # Any exception can come, as in fetch; the user named this data set, so that no other source is tried.
        raise DataError(f"data: no folder {repo_id}, and no such hub data set: {_one_line(error)}") from error
    return rows


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
