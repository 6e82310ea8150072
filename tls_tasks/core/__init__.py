"""What every family uses and none owns."""
