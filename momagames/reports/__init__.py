"""What is told of results: comparisons, tables for the terminal, the page for the browser, figures for papers."""
