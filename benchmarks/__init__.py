"""How long builds take, as ratios against Sphinx, MyST and sphinx-needs in the same run.

``python -m benchmarks --help`` says how to run it; ``docs/explanation/speed.md`` keeps the table.
"""
