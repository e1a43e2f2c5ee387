"""Figures of the documentation, drawn from the code: ``python -m docs.figures`` draws them anew."""
