"""Simulations: schemes, states, steps, and what they record."""
