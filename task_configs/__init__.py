"""The package that the entry point of the group ``lm_eval.tasks`` names: a folder of YAML files for each family."""
