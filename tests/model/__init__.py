"""A naive model of the four machines, written from the semantics page alone.

One list entry per observation, nothing kept but what the page names, counts
found by walking the list.  It exists to be compared with the real thing, so
it shares no code and no idea with it.  `python -m tests.model MACHINE`
answers JSON lines as `halfopen step MACHINE` does.
"""
