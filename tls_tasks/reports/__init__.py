"""Cited reports, and the judges that read them."""
