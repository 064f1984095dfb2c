"""The two sides of each comparison, one module per work; each runs as a process and ends with a line of JSON."""
