"""Translation models without and with context: the published systems that the test suites were made for, small."""
