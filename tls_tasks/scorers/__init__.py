"""Scorers: typed objects in, a typed score out. No file, clock, network or framework. One file a metric."""
