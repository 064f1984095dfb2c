"""The puzzles of the contracts, and the abilities that only some have; "listed": its states have ranks."""

ABILITIES = {
    "cube2": {"listed", "half_turn_length", "turns", "pieces"},
    "cube3": {"symmetries", "mirror", "inverse_states", "half_turn_length", "turns", "pieces"},
    "hanoi_4": {"listed", "start", "disks"},
    "hanoi_3_4": {"listed", "start", "disks"},
    "puzzle8": {"listed", "symmetries", "side"},
    "puzzle15": {"symmetries", "side"},
    "puzzle24": {"symmetries", "side"},
    "puzzle48": {"symmetries", "side"},
    "lights_out_4": {"presses", "quiet", "side"},
    "lights_out_5": {"presses", "quiet", "side"},
    "lights_out_7": {"presses", "side"},
    "sokoban": {"side", "planes", "is_push"},
    "sokoban_7_9": {"planes", "is_push"},
    "pancake_9": {"listed", "turns"},
    "pancake_20": {"turns"},
}
LISTED = [name for name, abilities in ABILITIES.items() if "listed" in abilities]
LARGE = [name for name in ABILITIES if name not in LISTED]
