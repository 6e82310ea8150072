"""The old home of :mod:`tls_tasks.core.rows`; goes when the last family has moved."""

from tls_tasks.core.rows import describe as describe
from tls_tasks.core.rows import read_text as read_text
