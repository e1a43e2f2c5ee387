"""Ways to split a training over boards, one in each module."""
