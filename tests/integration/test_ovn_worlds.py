"""No step and no advice names a server that lives, or that is the only one that can come back at its address: on real servers, at random."""

import os

import pytest

from lab.instance import Lab
from ovn_worlds import World

SEEDS = [int(seed) for seed in os.environ.get("WARDMOTE_OVN_SEEDS", "1 2").split()]
STEPS = int(os.environ.get("WARDMOTE_OVN_STEPS", "30"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_who_lives_is_named(seed, tmp_path):
    with Lab.up(f"world-{seed}-{os.getpid()}", ["nb"], hosts=6, transient=True) as lab:
        world = World(lab, tmp_path, seed)
        try:
            world.play(STEPS)
        finally:
            world.end()
        assert not world.wrong(), "\n".join([*world.wrong()[:20], *world.story])
        print(f"{len(world.named)} times named: {sorted({one.by[:160] for one in world.named})[:6]}", *world.story, sep="\n")
