"""Methods with learners of other libraries, with small options."""

from momagames.baselines import method

COMMON = {"gamma": 1.0, "illegal": "next"}
VALUES = {
    **COMMON, "divisions": 2, "net_arch": (16, 16), "learning_rate": 1e-3, "batch_size": 8, "buffer_size": 500,
    "exploration": 0.5,
}  # fmt: skip
GPI = {**VALUES, "iterations": 3, "eval_episodes": 1, "gradient_updates": 1}
COMMANDS = {
    **COMMON, "num_policies": 5, "hidden_dim": 16, "learning_rate": 1e-2, "batch_size": 8, "random_episodes": 5, "episodes": 3,
    "updates": 2, "max_buffer_size": 20,
}  # fmt: skip
OPTIONS = {
    "pcn": COMMANDS,
    "envelope": VALUES,
    "gpi_ls": GPI,
    "maskable_ppo": {
        **COMMON, "divisions": 2, "shared": False, "net_arch": (16, 16), "learning_rate": 1e-3, "num_steps": 16,
        "batch_size": 8, "update_epochs": 2, "ent_coef": 0.01, "greedy": True,
    },
}  # fmt: skip
SMALL = {"board_width": 4, "board_height": 4, "num_colors": 2}


def make_method(name, **options):
    return method(name)(**{**OPTIONS[name], **options})
