"""How does it look? What all pages share: the board, charts, the theme, and the server that shows a page on this machine."""
