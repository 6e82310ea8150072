"""Model text -> ``Parsed(value, problems)``. Nothing here raises on model text, and nothing here runs it."""
