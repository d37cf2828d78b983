"""Drawing without a game: letters, tiles and tables as arrays uint8[H, W, 3]. Games draw with it, the doors add captions."""
