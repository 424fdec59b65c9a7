"""Robots: what they are, and where they come from."""
