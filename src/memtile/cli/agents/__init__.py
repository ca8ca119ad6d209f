"""The commands as tools of agents: ``memtile mcp``."""
