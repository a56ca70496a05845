"""The Hydra configuration, a package of its own (`pronmetric.conf`), so that it travels in the wheel."""
