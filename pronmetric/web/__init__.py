"""What the servers of pages share: connections, limits, headers and bodies of requests."""
