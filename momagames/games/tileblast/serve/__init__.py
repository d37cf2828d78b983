"""HTTP simulator of MO-TileBlast: sessions, limits, and the published protocol (docs/serve.md).

protocol.py       fields of requests, and the encoding of boards
simulator.py      levels and positions: a tap makes a new position
goal_distance.py  remainingGoalsDistance of a position
sessions.py       positions of running games
limits.py         rates, sizes and times of requests
hosts.py          hosts and origins that are served
health.py         counters of /health
request_log.py    bounded log
service.py        answers to requests
app.py            routes of requests
timeouts.py       slow connections
server.py         sockets, start and stop
client.py         client of the protocol
remote_env.py     Gymnasium environment over HTTP
"""
