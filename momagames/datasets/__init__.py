"""Datasets for offline learning: episodes of games by policies of several qualities, with vector rewards and preferences.

from momagames import datasets

data = datasets.make("samegame", "samegame-data")  # a packaged recipe, or the path of your own
for episode in data.episodes(tier="expert"):
    print(episode.returns, episode.preferences)

Needs the extra `datasets`.
"""

from momagames.datasets.dataset import Dataset, Episode, open_dataset
from momagames.datasets.decisions import Decisions
from momagames.datasets.making import make
from momagames.datasets.minari_export import export_minari
from momagames.datasets.recipes import Recipe, list_recipes, load_recipe
from momagames.datasets.verification import Verification, verify

__all__ = [
    "Dataset", "Decisions", "Episode", "Recipe", "Verification", "export_minari", "list_recipes", "load_recipe", "make",
    "open_dataset", "verify",
]  # fmt: skip
