"""The paper's experiments, its claims held against them, and the report: ``python -m paper``, in a clone."""
