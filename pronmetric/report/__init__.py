"""Reports: a page for the browser, tables, plots. No torch; model output is passed as plain data."""
