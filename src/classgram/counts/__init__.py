"""Word ids to n-gram counts, and to the events that clustering works on (section 2: N(.))."""
