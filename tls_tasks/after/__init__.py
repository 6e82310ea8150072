"""After the run: logs, rescoring, comparisons, the page, submissions."""
