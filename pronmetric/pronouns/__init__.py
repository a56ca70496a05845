"""Pronouns: the inventory of a language, and the rules that find its pronouns in a text."""
