"""Parts that several blocks use: memories, arbiters, streams, readers."""
