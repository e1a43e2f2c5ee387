"""Files: the only readers of data, and durable writing."""
