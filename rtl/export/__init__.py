"""The chip as files for other tools: Verilog, netlists and their manifest."""
