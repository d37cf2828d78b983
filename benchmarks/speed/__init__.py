"""How fast momagames is, beside momaland and a hand-written C loop. Run: python -m benchmarks.speed"""
