"""What judges metrics: people, test suites, other scores, studies. Nothing that scores a translation imports it."""
