"""Checks of fields."""

__all__ = ["require"]


def require(condition, message):
    """Raise ValueError with a message unless a condition holds."""
    if not condition:
        raise ValueError(message)
