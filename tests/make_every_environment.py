"""Makes and plays each environment in each API: a quick check of an installation, without pytest.

python tests/make_every_environment.py
"""

import sys

import gymnasium

import momagames

for id in momagames.ids():
    env = momagames.make(id, max_cycles=3)
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    parallel = momagames.make(id, api="parallel", max_cycles=3)
    seen, _ = parallel.reset(seed=0)
    while parallel.agents:
        legal = {agent: parallel.action_space(agent).sample(seen[agent]["action_mask"]) for agent in parallel.agents}
        seen, *_ = parallel.step(legal)
    single = gymnasium.make(f"momagames/{id}", max_cycles=3)
    _, info = single.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, info = single.step(single.action_space.sample(info["action_mask"]))
        over = terminated or truncated
    envs = momagames.make_vec(id, 3)
    envs.reset(seed=0)
    for _ in range(3):
        envs.step(envs.sample_actions())
    envs.close()
print(f"{len(momagames.ids())} environments, Python {sys.version.split()[0]}")
