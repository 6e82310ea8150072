"""Where documents are found: order of sources, hub, files."""
