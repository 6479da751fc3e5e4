"""From a folder of markdown pages to ranked, cited sections. Names no manual."""
