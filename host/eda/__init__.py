"""Tools of electronic design: synthesis, place and route, board builds, integration files."""
