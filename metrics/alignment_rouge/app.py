from tls_tasks.space import launch

launch("alignment_rouge")
