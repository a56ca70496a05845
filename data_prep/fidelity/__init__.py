"""Pairs in which only the context decides: who is he, she, they or it."""
