"""Preparation of training pairs and passages from WMT system outputs and English documents; no torch."""
