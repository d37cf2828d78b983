"""The HTTP simulator of MO-TileBlast: sessions, limits, and the published protocol (docs/serve.md).

protocol.py  what requests must hold, and how boards are written
simulator.py levels and positions: a tap makes a new position
sessions.py  who plays what
limits.py    how much anybody may ask
service.py   the answer to each request
app.py       requests by path
server.py    sockets, start and stop
"""
