"""The two sides of each comparison, a module a work; each runs in a process of its own and ends with a line of JSON."""
