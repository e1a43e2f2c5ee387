# SPDX-License-Identifier: BSD-2-Clause
"""Examples to copy: ``hypercast examples FOLDER``. Nothing imports them."""
