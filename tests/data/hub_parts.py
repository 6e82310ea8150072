"""What the data tests of several families share: rows with their places, and files as the hub's cache has them."""


def numbered(rows, where="row"):
    return [(f"{where} {number}", row) for number, row in enumerate(rows, start=1)]


def hub_file(tmp_path, data_set, number=0):
    """Where huggingface_hub would have put a file of a data set, in a folder that is there."""
    source = data_set.hub
    repo = tmp_path / "hub-cache" / f"datasets--{source.repo_id.replace('/', '--')}"
    path = repo / "snapshots" / source.revision / source.files[number]
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
