"""What is true: models, IDs, matching and checks. Knows neither Sphinx nor git."""
