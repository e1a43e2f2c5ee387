# SPDX-License-Identifier: BSD-2-Clause
"""The one way in for files: each is opened, decoded and checked here, whatever it is read for.

Nothing else in ``host`` opens a file to read it; a test holds that.
"""
