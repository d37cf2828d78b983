"""Searches for plans from one position: beam search, local search, nested rollout policy adaptation."""
