"""The multicast network: routers on a hypercube, and the links between them."""
