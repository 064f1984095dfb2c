"""The net: runs two commits of this project on this machine and compares results that must not move. See __main__."""
