"""What `costtogo serve` shows: a local page over the trained networks, and the server behind it.

safety: what every request has to pass and every response carries.  schemas: the shapes of requests and answers.
catalogue: the puzzles that the page offers, their states and scrambles.  app: the addresses.
workers: worker processes, and the queue of jobs for them.  worker_process: what runs in one.
core: what a worker computes, the only module here that knows of networks.  server: binding and running.
"""
