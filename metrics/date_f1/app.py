from tls_tasks.space import launch

launch("date_f1")
