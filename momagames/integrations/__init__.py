"""Environments of momagames as environments of training libraries; each module needs its library.

sb3          Stable-Baselines3 and sb3-contrib: a `VecEnv` over the batch
torchrl      TorchRL: an `EnvBase` over the batch
benchmarl    BenchMARL: a task by id
rllib        RLlib: environments by name, with the id in `env_config`
textarena    TextArena: an `Env` over the text environments
verifiers    verifiers: a taskset and an environment over the text environments
"""
