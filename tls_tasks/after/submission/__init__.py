"""``tls-tasks submit`` and ``verify``: a run as an archive that a leaderboard can check without anything else."""
