"""Graphs of other libraries, taken apart; none of these libraries is imported for it."""
