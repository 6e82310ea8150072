"""What the YAML files here name by ``!function``: looked up in the tasks, see tls_tasks.hosts.lm_eval."""

from tls_tasks.hosts.lm_eval import hooks

__getattr__ = hooks("tls_tasks.trees.task")
