"""From a folder to readable documents: the scan, one reader a format, and the processes that they run in."""
