"""Helpers for tests of designs and tools built on memtile.

``memtile.testing.strategies`` holds Hypothesis strategies; importing it needs Hypothesis, importing this
package does not.
"""
