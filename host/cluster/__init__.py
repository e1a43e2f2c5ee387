"""Several boards that train one network, each with a process of its own."""
