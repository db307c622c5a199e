"""Real OVN raft clusters on one machine, and the ways to break them."""
