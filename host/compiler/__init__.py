# SPDX-License-Identifier: BSD-2-Clause
"""From a graph and a recipe to programs and memory images: the compiler to the chip."""
