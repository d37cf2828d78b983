"""Exact results of MO-GemMining: fronts of expected gems by elimination along the chain."""
