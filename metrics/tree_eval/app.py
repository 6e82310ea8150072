from tls_tasks.space import launch

launch("tree_eval")
