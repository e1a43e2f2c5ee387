# SPDX-License-Identifier: BSD-2-Clause
"""Damaged inputs of all kinds, put through the project's own doors as a user does.

Each module of ``KINDS`` (see ``catalogue``) makes a valid input, damages it, and looks at the
result: the input has to be refused in one line, or accepted with its true meaning.
"""
