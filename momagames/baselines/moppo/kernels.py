# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
"""Compiled kernels of MOPPO: observation encoding, the forward pass of the network, and advantages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from momagames.baselines.moppo.encoder import BIN, LINEAR, ONE_HOT, POSITION
from momagames.contract import Game
from momagames.engine.loops import cache_by_rules, get_pruner
from momagames.engine.masks import fill_forced_action, has_choice
from momagames.kernels.jit import compile_entry_point, kernel, noinline_kernel
from momagames.kernels.rng import advance, mix

LOW_BITS, UNIT = np.uint64(11), 2.0**-53
ZERO, ONE = np.float32(0.0), np.float32(1.0)


@kernel
def write_feature(values, offset, cells, stride, transform, a, b, out, first, step):
    """Write one feature, see `encoder.Feature`, to out[first], out[first + step], ..."""
    if transform == POSITION:
        for i in range(cells):
            out[first + i * step] = ZERO
        out[first + (np.int64(values[offset]) * np.int64(b) + np.int64(values[offset + 1])) * step] = ONE
        return
    for i in range(cells):
        value = np.float64(values[offset + i * stride])
        if transform == ONE_HOT:
            out[first + i * step] = ONE if value == a else ZERO
        elif transform == LINEAR:
            out[first + i * step] = np.float32((value - a) * b)
        elif transform == BIN:
            out[first + i * step] = ONE if abs(value - a) <= b else ZERO
        else:
            out[first + i * step] = np.float32(np.log1p(value - a) * b)


@kernel
def write_features(table, workspace, out, step):
    """Write all planes (step: their number, so that the values of a cell are adjacent) or all scalars (step 1)."""
    _, v0, v1, v2, v3, v4 = workspace
    for p in range(table.shape[0]):
        dtype, offset = np.int64(table[p, 0]), np.int64(table[p, 1])
        cells, stride = np.int64(table[p, 2]), np.int64(table[p, 3])
        transform, a, b = np.int64(table[p, 4]), table[p, 5], table[p, 6]
        if dtype == 0:
            write_feature(v0, offset, cells, stride, transform, a, b, out, p, step)
        elif dtype == 1:
            write_feature(v1, offset, cells, stride, transform, a, b, out, p, step)
        elif dtype == 2:
            write_feature(v2, offset, cells, stride, transform, a, b, out, p, step)
        elif dtype == 3:
            write_feature(v3, offset, cells, stride, transform, a, b, out, p, step)
        else:
            write_feature(v4, offset, cells, stride, transform, a, b, out, p, step)


def _encode_observations(observations, workspace, plane_table, scalar_table, planes, scalars):
    for i in range(observations.shape[0]):
        copy(observations[i], workspace[0])
        write_features(plane_table, workspace, planes[i], plane_table.shape[0])
        write_features(scalar_table, workspace, scalars[i], 1)


encode_observations: Callable[..., None] = compile_entry_point(_encode_observations, "moppo.encode_observations")
"""Encode observations uint8[N, B] as planes float32[N, cells * P] (cell by cell) and scalars float32[N, >= V]."""


@kernel
def dense(inputs, weights, biases, out):
    """Compute out = inputs @ weights + biases; zero inputs are skipped."""
    for j in range(out.shape[0]):
        out[j] = biases[j]
    add_dense(inputs, weights, out)


@kernel
def add_dense(inputs, weights, out):
    for i in range(inputs.shape[0]):
        value = inputs[i]
        if value != ZERO:
            add_scaled(value, weights[i], out)


@kernel
def add_scaled(value, row, out):
    for j in range(out.shape[0]):
        out[j] += value * row[j]


@kernel
def copy(values, out):
    for j in range(out.shape[0]):
        out[j] = values[j]


@kernel
def apply_relu(values):
    for j in range(values.shape[0]):
        values[j] = max(values[j], ZERO)


@kernel
def modulate(values, weights, modulation):
    """Multiply units by 1 + centered weights @ modulation; for equal weights and without modulation, by 1."""
    objectives = weights.shape[0]
    if objectives == 0:
        return
    for j in range(values.shape[0]):
        factor = ONE
        for k in range(objectives):
            factor += (np.float32(objectives) * weights[k] - ONE) * modulation[k, j]
        values[j] *= factor


@noinline_kernel
def add_convolution(inputs, weights, rows, columns, out):
    """Add the zero-padded 3x3 convolution of float32[cells, P] with weights float32[9, P, C] to out float32[cells, C]."""
    for y in range(rows):
        for x in range(columns):
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if 0 <= y + dy < rows and 0 <= x + dx < columns:
                        add_dense(inputs[(y + dy) * columns + x + dx], weights[(dy + 1) * 3 + dx + 1], out[y * columns + x])


@noinline_kernel
def forward(shape, net, buffers):
    """Compute the logits of a network from the planes and features in `buffers`; see `network.Network` for its layers.

    shape    rows, columns, residual layers, actions per cell (0: actions do not belong to cells), agent id features, the plane
             that marks the cell of the agent (-1: none), and the numbers of an egocentric view: of its planes, and all
    """
    rows, columns, layers, actions_per_cell, agent_plane = shape[0], shape[1], shape[2], shape[3], shape[5]
    conv_in, conv_in_features, conv_in_bias, residual_convs, residual_biases, squeeze, squeeze_bias = net[:7]
    fc1, fc1_bias, fc2, fc2_bias, actor_cells, actor_trunk, actor_trunk_bias, actor, actor_bias, modulation = net[7:]
    planes, features, residual, block, fc1_input, hidden, trunk, shared, logits, _, _ = buffers
    cells = rows * columns
    if cells:
        dense(features, conv_in_features, conv_in_bias, shared)
        for i in range(cells):
            copy(shared, residual[i])
        add_convolution(planes, conv_in, rows, columns, residual)
        for i in range(cells):
            apply_relu(residual[i])
        for layer in range(layers):
            for i in range(cells):
                copy(residual_biases[layer], block[i])
            add_convolution(residual, residual_convs[layer], rows, columns, block)
            for i in range(cells):
                apply_relu(block[i])
                for j in range(block.shape[1]):
                    residual[i, j] += block[i, j]
        channels = squeeze_bias.shape[0]
        for i in range(cells):
            dense(residual[i], squeeze, squeeze_bias, fc1_input[i * channels : (i + 1) * channels])
        apply_relu(fc1_input[: cells * channels])
        end = cells * channels + features.shape[0]
        copy(features, fc1_input[cells * channels : end])
        for i in range(cells):
            if agent_plane >= 0 and planes[i, agent_plane] == ONE:
                copy(residual[i], fc1_input[end:])
    else:
        copy(features, fc1_input)
    weights = features[features.shape[0] - modulation.shape[0] :]
    dense(fc1_input, fc1, fc1_bias, hidden)
    modulate(hidden, weights, modulation[:, : hidden.shape[0]])
    apply_relu(hidden)
    dense(hidden, fc2, fc2_bias, trunk)
    modulate(trunk, weights, modulation[:, hidden.shape[0] :])
    apply_relu(trunk)
    if actions_per_cell:
        dense(trunk, actor_trunk, actor_trunk_bias, shared)
        for i in range(cells):
            copy(shared, block[i])
            add_dense(residual[i], actor_cells, block[i])
            apply_relu(block[i])
            dense(block[i], actor, actor_bias, logits[i * actions_per_cell : (i + 1) * actions_per_cell])
    else:
        dense(trunk, actor, actor_bias, logits)


@kernel
def choose_action(logits, mask, greedy, word):
    """Sample an action from the softmax over the legal actions, or take the first with the highest logit.

    Returns the action and the generator word."""
    best = -1
    for a in range(mask.shape[0]):
        if mask[a] and (best < 0 or logits[a] > logits[best]):
            best = a
    if greedy or best < 0:
        return max(best, 0), word
    total = 0.0
    for a in range(mask.shape[0]):
        if mask[a]:
            total += np.exp(np.float64(logits[a] - logits[best]))
    word = advance(word)
    remaining = np.float64(mix(word) >> LOW_BITS) * UNIT * total
    for a in range(mask.shape[0]):
        if mask[a]:
            remaining -= np.exp(np.float64(logits[a] - logits[best]))
            if remaining < 0.0:
                return a, word
    return best, word


@kernel
def clear_nothing(state, agent, caution, mask):
    """Clear no action: the default of `LearningSupport.clear_unsafe_actions`."""


@cache_by_rules
def make_network_kernel(game: Game, is_egocentric: bool) -> Callable[..., Any]:
    """Return the policy kernel of a network, see `engine.policies`.

    is_egocentric    whether the network reads the egocentric view instead of the observation
    """
    write_inputs = _make_view_reader(game) if is_egocentric else _make_observation_writer(game)
    clear = game.learning.clear_unsafe_actions or clear_nothing

    @kernel
    def act(state, agent, mask, parts, memory, scratch, word, action):
        _, _, _, shape, net, buffers, caution, safe, actions = scratch
        for place in range(mask.shape[0]):
            safe[place] = mask[place]
        if caution[0] > 0:
            clear(state, agent, caution[0], safe)
            if not has_choice(safe, parts):
                fill_forced_action(safe, parts, action)
                return word
        features = write_inputs(state, agent, scratch)
        for k in range(buffers[1].shape[0] - features):
            buffers[1][features + k] = np.float32(memory["weights"][k])
        forward(shape, net, buffers)
        logits = buffers[8]
        if actions.shape[0] > 0:  # from the order in which the agent sees them to that of the game
            copy(logits, buffers[10])
            for place in range(logits.shape[0]):
                logits[actions[agent, place]] = buffers[10][place]
        start = 0
        for part in range(parts.shape[0]):
            end = start + parts[part]
            action[part], word = choose_action(logits[start:end], safe[start:end], memory["greedy"], word)
            start = end
        return word

    return act


def _make_observation_writer(game: Game) -> Callable[..., Any]:
    """Return a kernel that writes planes and features from the observation; it returns the number of features."""
    observe = game.kernels.observe

    @kernel
    def write_inputs(state, agent, scratch):
        plane_table, scalar_table, workspace, shape, _, buffers, _, _, _ = scratch
        observe(state, agent, workspace[0])
        write_features(plane_table, workspace, buffers[9], plane_table.shape[0])
        write_features(scalar_table, workspace, buffers[1], 1)
        scalars, agent_ids = scalar_table.shape[0], shape[4]
        for i in range(agent_ids):
            buffers[1][scalars + i] = ONE if i == agent else ZERO
        return scalars + agent_ids

    return write_inputs


def _make_view_reader(game: Game) -> Callable[..., Any]:
    """Return a kernel that writes the egocentric view as features; it returns their number."""
    write_view = make_view_writer(game)

    @kernel
    def write_inputs(state, agent, scratch):
        shape = scratch[3]
        write_view(state, agent, shape[6], shape[7], scratch[5][1])
        return shape[7]

    return write_inputs


@cache_by_rules
def make_view_writer(game: Game) -> Callable[..., Any]:
    """Return a kernel that writes the egocentric view to out float32[F]: `size` numbers, first the `cells` of planes."""
    view = game.learning.egocentric_view
    assert view is not None  # see make_network_encoder
    write = view.write

    @kernel
    def write_view(state, agent, cells, size, out):
        write(state, agent, out[:cells], out[cells:size])

    return write_view


@cache_by_rules
def compile_view_encoder(game: Game) -> Callable[..., None]:
    """Return a function that writes egocentric views and weights as sparse rows, see `views.Views`.

    envs and agents int64[R], weights float32[R, K]; cells and size are those of the view; `first` is the index of the first
    row; dense float32[F] is scratch memory.
    """
    write_view = make_view_writer(game)

    def encode(states, envs, agents, weights, cells, size, first, dense, starts, columns, values):
        end = starts[first]
        for r in range(envs.shape[0]):
            write_view(states[envs[r]], agents[r], cells, size, dense)
            copy(weights[r], dense[size:])
            for i in range(dense.shape[0]):
                if dense[i] != ZERO:
                    columns[end], values[end] = i, dense[i]
                    end += 1
            starts[first + r + 1] = end

    return compile_entry_point(encode, f"{game.rules_key}.moppo.encode_views")


def _multiply_sparse(starts, columns, values, rows, weights, biases, out):
    for i in range(rows.shape[0]):
        row, entry, end = out[i], starts[rows[i]], starts[rows[i] + 1]
        copy(biases, row)
        while entry + 4 <= end:  # four entries at a time: `row` is read and written a quarter as often
            a, b, c, d = values[entry], values[entry + 1], values[entry + 2], values[entry + 3]
            from_a, from_b = weights[columns[entry]], weights[columns[entry + 1]]
            from_c, from_d = weights[columns[entry + 2]], weights[columns[entry + 3]]
            for j in range(row.shape[0]):
                row[j] += (a * from_a[j] + b * from_b[j]) + (c * from_c[j] + d * from_d[j])
            entry += 4
        while entry < end:
            add_scaled(values[entry], weights[columns[entry]], row)
            entry += 1


multiply_sparse: Callable[..., None] = compile_entry_point(_multiply_sparse, "moppo.multiply_sparse")
"""Write the products of sparse rows, see `views.Views`, with weights float32[F, H], plus biases float32[H], to out[R, H]."""


def _add_sparse_gradient(starts, columns, values, rows, gradient, out):
    for i in range(rows.shape[0]):
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            add_scaled(values[entry], gradient[i], out[columns[entry]])


add_sparse_gradient: Callable[..., None] = compile_entry_point(_add_sparse_gradient, "moppo.add_sparse_gradient")
"""Add the gradient of the weights of `multiply_sparse` to out float32[F, H], from that of its output float32[R, H]."""


def _expand_sparse(starts, columns, values, rows, out):
    for i in range(rows.shape[0]):
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            out[i, columns[entry]] = values[entry]


expand_sparse: Callable[..., None] = compile_entry_point(_expand_sparse, "moppo.expand_sparse")
"""Write sparse rows with their zeros to a zeroed out float32[R, F]."""


@cache_by_rules
def compile_safe_masks(game: Game) -> Callable[..., None]:
    """Return a function that clears unsafe actions in the masks int8[N, V, M] of learning agents.

    view_agents int64[N, V] are the agents of the views, is_learning bool[N, A]; masks without a choice stay as they are.
    """
    clear = game.learning.clear_unsafe_actions or clear_nothing

    def clear_masks(states, view_agents, is_learning, caution, parts, masks):
        for n in range(masks.shape[0]):
            for v in range(masks.shape[1]):
                agent = view_agents[n, v]
                if is_learning[n, agent] and has_choice(masks[n, v], parts):
                    clear(states[n], agent, caution, masks[n, v])

    return compile_entry_point(clear_masks, f"{game.rules_key}.moppo.clear_masks")


@cache_by_rules
def compile_distinct_masks(game: Game) -> Callable[..., None]:
    """Return a function that keeps one of several equivalent actions in the masks int8[N, 1, M] of the agents to move."""
    prune = get_pruner(game)

    def clear_masks(states, masks):
        for n in range(masks.shape[0]):
            prune(states[n], masks[n, 0])

    return compile_entry_point(clear_masks, f"{game.rules_key}.moppo.distinct_masks")


def _compute_advantages(
    rewards, dones, agents, decisions, values, next_values, gamma, gae_lambda, workspace, advantages, has_advantage
):  # fmt: skip
    """Compute generalized advantage estimates for each objective and agent, between consecutive decisions of the agent.

    rewards float32[T, N, A, K], dones bool[T, N]; agents int32[T, N] is the agent that acted if S is 1 (else agent s is actor
    s); decisions bool[T, N, S]; values float32[T, N, S, K]; next_values float32[N, A, K], values after the last step (NaN:
    unknown); workspace float64[3, K]. Writes advantages float32[T, N, S, K], and has_advantage bool[T, N, S] where they are
    defined.

    Source: Schulman et al., "High-dimensional continuous control using generalized advantage estimation", 2016.
    """
    steps, num_envs, actors, objectives = values.shape
    for n in range(num_envs):
        for a in range(rewards.shape[2]):
            reward_sum, next_value, last_gae = workspace[0], workspace[1], workspace[2]
            known = not np.isnan(next_values[n, a, 0])
            for k in range(objectives):
                reward_sum[k], next_value[k], last_gae[k] = 0.0, next_values[n, a, k] if known else 0.0, 0.0
            for t in range(steps - 1, -1, -1):
                if dones[t, n]:
                    known = True
                    for k in range(objectives):
                        reward_sum[k], next_value[k], last_gae[k] = 0.0, 0.0, 0.0
                for k in range(objectives):
                    reward_sum[k] += np.float64(rewards[t, n, a, k])
                s = a if actors > 1 else 0
                if not decisions[t, n, s] or (actors == 1 and agents[t, n] != a):
                    continue
                for k in range(objectives):
                    value = np.float64(values[t, n, s, k])
                    if known:
                        last_gae[k] = reward_sum[k] + gamma * next_value[k] - value + gamma * gae_lambda * last_gae[k]
                        advantages[t, n, s, k] = np.float32(last_gae[k])
                    next_value[k] = value
                    reward_sum[k] = 0.0
                has_advantage[t, n, s] = known
                known = True


compute_advantages: Callable[..., None] = compile_entry_point(_compute_advantages, "moppo.compute_advantages")


def _find_choices(masks, parts, out):
    for n in range(masks.shape[0]):
        for v in range(masks.shape[1]):
            out[n, v] = has_choice(masks[n, v], parts)


find_choices: Callable[..., None] = compile_entry_point(_find_choices, "moppo.find_choices")
"""Write whether there is more than one legal action, bool[N, V], from masks int8[N, V, M] with parts of these sizes."""
