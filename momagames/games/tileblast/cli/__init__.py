"""Commands of MO-TileBlast: `momagames level` and `momagames serve`."""
