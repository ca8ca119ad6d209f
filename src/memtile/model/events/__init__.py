"""Events: status, counters, timers, broadcasts, trace units (AM020 chapter 2, events)."""
