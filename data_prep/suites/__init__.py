"""Builders of test suites, one file a kind of suite, from test sets, parallel text and annotated documents."""
