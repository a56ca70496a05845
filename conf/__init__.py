"""The Hydra configuration, packaged as `pronmetric.conf` in the wheel."""
