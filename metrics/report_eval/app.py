from tls_tasks.space import launch

launch("report_eval")
