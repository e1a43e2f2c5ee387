# SPDX-License-Identifier: BSD-2-Clause
"""Which errors have a message for the user."""

import dis

__all__ = ["explained"]

#: What is raised with a message for the user, where it is our own code that raises it.
_EXPLAINED = (ArithmeticError, OSError, RuntimeError, ValueError)


def explained(error: BaseException) -> bool:
    """Whether a statement ``raise`` of ours made the error, so that its text is for the user.

    Others are those of Python and of libraries, of what they were called with.
    """
    if not isinstance(error, _EXPLAINED) or (last := error.__traceback__) is None:
        return False
    while last.tb_next:
        last = last.tb_next
    code = last.tb_frame.f_code.co_code
    return (last.tb_frame.f_globals.get("__name__", "").startswith("hypercast.")
            and dis.opname[code[last.tb_lasti]] == "RAISE_VARARGS")
