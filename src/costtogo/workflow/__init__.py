"""The parts that the Snakefile needs besides its one rule: the table of stages, and which of them are finished."""
