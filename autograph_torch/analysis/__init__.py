"""Questions about a tree, answered once and handed to the passes as frozen data. No torch here."""
