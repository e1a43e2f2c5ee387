# SPDX-License-Identifier: BSD-2-Clause
"""The multicast network: routers on a hypercube, and the links between them."""
