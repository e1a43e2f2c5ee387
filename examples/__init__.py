"""Examples to copy: ``hypercast examples FOLDER``. Nothing imports them."""
