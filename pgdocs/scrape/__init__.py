"""From a manual on the web to markdown pages. The only part that knows any manual."""
