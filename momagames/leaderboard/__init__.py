"""The verified leaderboard: submissions whose plans are replayed and whose policies are played before they have a row.

from momagames.leaderboard import check_submission, make_tables

entry = check_submission("benchmarks/leaderboard/entries/samegame-6x6x3-beam")
print(make_tables([entry])[0].rows[0].to_json())
"""

from momagames.leaderboard.directory import seal_submission
from momagames.leaderboard.entries import Entry, check_submission
from momagames.leaderboard.tables import Row, Table, make_tables

__all__ = ["Entry", "Row", "Table", "check_submission", "make_tables", "seal_submission"]
