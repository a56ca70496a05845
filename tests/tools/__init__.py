"""What tests and measuring scripts share: a browser, a database server, damage to files, made-up data."""
