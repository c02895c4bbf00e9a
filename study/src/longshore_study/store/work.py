"""Which factors of a pattern define its work, and which the way in which the work is done. Variants
that do the same work are choices of a user, and are ranked against each other."""

from __future__ import annotations

WORK = {
    "stream": ("kernel", "elements", "array", "type"),
    "gather": ("operation", "requests", "table", "index_pattern"),
    "halo": ("contiguous", "domain", "halo", "reach", "fields", "type", "periodic"),
    "sort": ("keys", "scaling", "max_key", "key_pattern", "key_type", "payload", "stable"),
    "ghost": ("operation", "mesh", "file", "elements", "ghosts", "reach", "fields", "type"),
}
"""By pattern, the factors that define the work, in the order of the command line."""

WAYS = {
    "stream": ("scope", "tasks", "task_count", "memory", "first_touch", "distribution", "stores"),
    "gather": ("strategy", "distribution", "block_items", "combine", "buffer_items", "hops"),
    "halo": (
        "algorithm", "mode", "language", "memory", "grid", "placement", "node", "socket", "numa", "l3", "core", "order",
        "tasks", "task_count",
    ),
    "sort": ("exchange", "order", "splitters", "meet", "tasks", "task_count"),
    "ghost": ("strategy", "memory", "placement"),
}  # fmt: skip
"""By pattern, the other factors."""

WORK_BETWEEN = ("ranks", "nodes", "ranks_per_node", "environment")
"""The factors of a launch that belong to the work of any pattern."""
