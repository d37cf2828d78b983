"""PyTorch with one thread."""

import pytest


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason='needs PyTorch: pip install "momagames[learn]"')
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(before)
