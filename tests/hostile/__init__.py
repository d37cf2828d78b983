"""Hostile inputs for every reader of files and every API.

    python -m tests.hostile --inputs 1000000 --seed 0 --workers 2
    python -m tests.hostile --only replay --seed 0 --input 123       # one input again

Each input is a valid example with random changes (inputs.py): of data (values replaced by hostile ones, keys deleted, repeated
and swapped), of texts, of bytes, of arrays and of arguments. Checksums within files are mostly computed again, so that the
changes reach the code behind them. An input is read by one target (files.py, apis.py). It may return, or raise a
MomagamesError; commands may also end with a message. Any other exception, the end of the process, more than 5 seconds and more
than 1 GiB are faults. They are printed with the command that repeats the input.
"""
