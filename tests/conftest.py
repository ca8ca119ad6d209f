"""What every test run shares."""

from __future__ import annotations

from hypothesis import settings

pytest_plugins = ["features_plugin", "message_tone", "pytester"]

# A loaded machine must not turn a slow example into a failure.
settings.register_profile("memtile", settings(), deadline=None)
settings.load_profile("memtile")
