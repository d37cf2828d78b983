"""Games as text, for language models: positions, legal actions and preferences in words, answers that are parsed."""
