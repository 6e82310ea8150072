from tls_tasks.space import launch

launch("evidence_extraction")
