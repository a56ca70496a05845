"""The sweep of the paper's Table 4: its settings, its sample, its cells."""
