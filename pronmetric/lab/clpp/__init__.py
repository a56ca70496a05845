"""Cross-lingual pronoun prediction, the shared task of WMT 2016 and DiscoMT 2017."""
