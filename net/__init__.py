"""The net: two commits of this project run on this machine, and what must not move compared. See __main__."""
