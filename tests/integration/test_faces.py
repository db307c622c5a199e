"""Random worlds, and an agent that is killed, stopped, reloaded and not heard in them: whenever it is quiet, every face says what is true,
and in no answer at any time one part contradicts another."""

import pytest
from faces import World


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 7))])
def test_every_face_says_what_is_true(tmp_path, seed):
    with World(tmp_path, seed) as world:
        world.settle()
        for _ in range(6):
            world.turn()
            world.settle()
