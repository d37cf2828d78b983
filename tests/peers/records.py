"""Records of games in data/<name>.jsonl.gz, one a line."""

import gzip
import json
from functools import cache
from pathlib import Path


@cache
def read_records(name):
    with gzip.open(Path(__file__).parent / "data" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def replay_each(records, replay):
    """Call `replay` with each record; an error names the record."""
    records = list(records)
    assert records
    for record in records:
        try:
            replay(record)
        except Exception as error:
            error.add_note(f"in the record {record['id']}")
            raise


def replay_all(name, replay, **facts):
    """Call `replay` with each record that has these facts."""
    replay_each((record for record in read_records(name) if facts.items() <= record.items()), replay)
