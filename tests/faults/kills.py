def all_groups(*_): return []
