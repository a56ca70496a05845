"""How good: figures of a checkpoint for its card, of people, of published tasks, and of the statistics behind them."""
