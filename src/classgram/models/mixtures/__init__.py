"""Several models in one."""
