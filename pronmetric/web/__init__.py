"""What web pages and servers share: connections, limits, headers of responses, the theme of a page."""
