"""What it costs: speed, memory, sizes, and what happens when something fails."""
