"""Drawing primitives: letters, tiles and tables as arrays uint8[H, W, 3]. Games draw with them, renderers add captions."""
