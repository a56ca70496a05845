"""Preparation: WMT system outputs and English documents to training pairs and passages; no torch."""
