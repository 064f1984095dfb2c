"""What people call by name: solve, keep, adopt, import. What the workflow calls is in costtogo.stages."""
