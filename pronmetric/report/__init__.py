"""What people look at: a page for the browser, tables, plots. No torch; what the model says comes as plain data."""
