# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""State records of a game: blank ones, and keys of positions."""

import numpy as np

from momagames.kernels.jit import kernel


def make_blank_state(dtype, **values):
    """Return a state record with these fields, such as parameters, and zeros in all others."""
    state = np.zeros(1, dtype)[0]
    for name, value in values.items():
        state[name] = value
    return state


def make_field_key(field):
    """Return a kernel `(state, words)` for `ExactSearch`: the bytes of a field, an array of 8 n bytes, as words uint64[n].

    They are a key where the future of a position follows from this field alone.
    """

    @kernel
    def write_key(state, words):
        content = state[field].reshape(-1).view(np.uint64)
        for word in range(len(words)):
            words[word] = content[word]

    return write_key
