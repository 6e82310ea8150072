from tls_tasks.space import launch

launch("rouge_l")
