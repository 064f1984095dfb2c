"""What the numbers of the literature count or measure: each quantity once, with its name, its tolerance, its reason."""

from typing import NamedTuple

from costtogo.report.markdown import Format, amount, is_missing, percent, places, short

TINY = ("states", "states_seen_percent", "move_sequences")  # or huge: written with a power of ten
ERRORS = ("overestimation_mean", "mean_absolute_error")  # in moves, of which three places count

NO_TARGET = "the study's trainer has no convergence points: it looks at no target network"
NO_FORCED = "a rule for updating a target network that the study does not have"
NO_POINTS = "counted by convergence points, which the study's trainer does not have"
NO_CONVOLUTIONS = "of a convolutional network, which the study does not have"
OF_15_TURNS = "of cubes of 15 random turns, which the study does not have"
NO_DATABASES = "a search over pattern databases, which the study does not have"
NOT_REPEATED = "a training that the study does not repeat"
NOT_THAT_TRAINING = "told of that training, which the study does not repeat"
NODES_ALONE = "the study counts nodes, not batches or layers"
CAP_ON_NODES = "a setting of that search; the study's searches end at a cap on nodes"
ONE_RATE = "advice on the learning rate; the study tries one"
ALL_FACES = "turns of all six faces; but for turns of the whole cube those of three are enough"
RECKONED = "the author's reckoning, not a measurement"
PROVED = "proved elsewhere; the space is too large to list"
MACHINE = "a machine, not a result; ours is named in timings.md"
NEARER = "the exact table ends nearer to the goal"
OF_PROGRAM = "time of a function of the thesis's program"


class Quantity(NamedTuple):
    """A quantity of data/reported.

    title: as readers see it.  better: of a result, +1 if more is better, -1 if less, 0 if neither.  absolute, relative:
    by how much two numbers may differ and be the same, in the quantity's unit and as a share of the reported value.
    clock: a clock tells it, so that it stands apart.  reason: why nothing stands beside it, where nothing does.
    form: how its numbers are written, where not as form_of says.
    """

    title: str
    better: int = 0
    absolute: float = 0.0
    relative: float = 0.0
    clock: bool = False
    reason: str = ""
    form: Format | None = None

    @property
    def tolerance(self) -> str:
        """In words, empty where numbers must be equal.  -> "5", "20 %"."""
        if self.absolute:
            return f"{self.absolute:g}"
        return f"{100 * self.relative:g} %" if self.relative else ""


def is_share(name: str) -> bool:
    """Whether a quantity counts of each hundred."""
    return "percent" in name or name == "states_solved"


def _named(*names: str, reason: str = "") -> dict[str, Quantity]:
    """Quantities that are called as data/reported calls them."""
    return {name: Quantity(name.replace("_", " "), reason=reason, form=short) for name in names}


THESIS = {  # whose trainings and searches are repeated checkpoint by checkpoint, on puzzles that can be listed
    "states": Quantity("states"),
    "states_at_distance": Quantity("states at a distance"),
    "states_percent_of_cube2": Quantity("states, % of those of the 2×2×2 cube", absolute=0.05),
    "diameter": Quantity("largest distance, moves", reason=PROVED),
    "diameter_half_turns": Quantity("largest distance with half turns, moves", reason=PROVED),
    "parameters": Quantity("trainable parameters"),
    "states_sampled": Quantity("states drawn"),
    "sampled_percent": Quantity("share of drawn states, %"),
    "sampled_states_difference": Quantity("difference of the two samplers, states"),
    "sampled_percent_difference": Quantity("difference of the two samplers, points", absolute=0.2),
    "total_iterations": Quantity("iterations"),
    "validation_loss": Quantity("highest validation loss of iterations 200 to 250, moves²"),
    "convergence_points": Quantity("convergence points", reason=NO_TARGET),
    "convergence_point_iteration": Quantity("iteration of a convergence point", reason=NO_TARGET),
    "states_seen": Quantity("states seen"),
    "states_seen_percent": Quantity("states seen, % of all"),
    "times_seen": Quantity("times that a state was seen on average"),
    "training_time": Quantity("training time", clock=True),
    "mean_absolute_error": Quantity("mean absolute error, moves", -1, relative=0.1),
    "admissible_percent": Quantity("admissible, %", 1, absolute=5.0),
    "overestimation_mean": Quantity("mean overestimate, moves", -1, absolute=0.05),
    "consistent_percent": Quantity("consistent, %", 1, absolute=5.0),
    "optimal_percent": Quantity("optimal, %", 1, absolute=0.5),
    "optimal_percent_least": Quantity("optimal at the worst distance, %", 1),
    "optimal_percent_difference": Quantity("most below DNN_reduced_0 at a distance, points", -1),
    "nodes_expanded": Quantity("nodes expanded", -1, relative=0.1),
    "nodes_expanded_ratio": Quantity("nodes expanded with λ = 1 to those with λ, times", 1, relative=0.1),
    "seconds": Quantity("seconds", clock=True),
    "seconds_ratio_batch_size": Quantity("seconds with N = 3 to those with N = 7, times", 1, relative=0.1, clock=True),
    "seconds_ratio_path_weight": Quantity("seconds with λ = 1 to those with λ, times", 1, absolute=0.3, clock=True),
    "length": Quantity("length, moves", -1),
    "extra_moves": Quantity("moves too many"),
    "moves_before_detour": Quantity("moves before the detour"),
    # the same or not: what a training was asked for
    **_named("scramble_moves_max", "states_per_iteration", "validation_states", "check_interval"),
    **_named("checkpoint_interval", "learning_rate", "loss_threshold", "walk_offset"),
}
OTHERS = THESIS | {  # in all other documents, and in the thesis on puzzles too large to list
    "states": Quantity("states", relative=0.05),
    "states_sampled": Quantity("states drawn"),
    "total_iterations": Quantity("iterations"),
    "states_seen_percent": Quantity("states seen, % of all"),
    "length": Quantity("length, moves", -1, relative=0.005),  # of other instances, as a mean
    "extra_moves": Quantity("moves too many on average", -1, absolute=0.05),
    "actions": Quantity("actions", reason=ALL_FACES),
    "actions_corner": Quantity("actions with the blank in a corner"),
    "actions_edge": Quantity("actions with the blank at an edge"),
    "stickers": Quantity("stickers"),
    "lights": Quantity("lights"),
    "cubelets": Quantity("cubelets"),
    "input_size": Quantity("inputs of the network", reason="another representation of the state"),
    "move_sequences": Quantity("move sequences", relative=0.05),
    "length_most": Quantity("longest solution, moves", -1),
    "length_ratio": Quantity("length over the shortest, times", -1),
    "solved_percent": Quantity("solved, %", 1),
    "states_solved": Quantity("solved of 100", 1),
    "extra_moves_2_percent": Quantity("two moves too many, %", -1),
    "extra_moves_4_percent": Quantity("four moves too many, %", -1),
    "nodes_expanded_most": Quantity("most nodes expanded", -1),
    "nodes_generated": Quantity("nodes generated", -1, relative=0.1),
    "admissible_within_one_percent": Quantity("overestimated by at most 1, %", 1, absolute=5.0),
    "conjugate_triplet_percent": Quantity("triplets a b a⁻¹, %", absolute=1.0),
    "aba_triplet_percent": Quantity("triplets a b a, %", absolute=1.0),
    "aab_triplet_percent": Quantity("triplets a a b, %", absolute=1.0),
    "abb_triplet_percent": Quantity("triplets a b b, %", absolute=1.0),
    "symmetric_solution_percent": Quantity("mirrored solutions, %", 1),
    "same_length_percent": Quantity("other solutions of the same length, %", 1),
    "path_weight_feasible": Quantity("feasible λ", 1),
    "iteration_time": Quantity("time of an iteration", clock=True),
    "nodes_per_second": Quantity("nodes generated a second", clock=True),
    "seconds_ratio_pdb": Quantity("seconds of the PDB solver over those of the network, times", 1, clock=True),
    "longest_time": Quantity("longest time of a search", clock=True),
    "search_iterations": Quantity("batches expanded", -1, relative=0.2, reason=NODES_ALONE),
    "training_diverges": Quantity("training diverges", -1, reason=NOT_THAT_TRAINING),
    "learning_rate_last_percent": Quantity("last learning rate, % of the first", reason=ONE_RATE),
    # the same or not: what a training and a search were asked for
    **_named("training_batch_size", "learning_rate_decay"),
    **_named("averaging_rate", "first_layer_neurons", "second_layer_neurons", "residual_layer_neurons"),
    **_named("residual_blocks", "residual_layers", "path_weight_chosen", "batch_size_chosen"),
    **_named("patterns_of_5_tiles", "patterns_of_3_tiles"),
    **_named("loss_threshold", reason="the study's trainer has no threshold: it looks at no target network"),
    **_named("forced_update_iteration", reason=NO_FORCED),
    **_named("walk_offset", reason="a setting of adaptive K, which the study does not use"),
    **_named("convolutional_layers", "linear_layers", "input_channels", reason=NO_CONVOLUTIONS),
    **_named("kernel_side", "stride", "padding", "padding_first_layer", reason=NO_CONVOLUTIONS),
    **_named("path_weight_tried", "batch_size_tried", reason="not in the study's grid"),
    **_named("search_iterations_limit", reason=CAP_ON_NODES),
    **_named("cpus", "cpu_cores", "cpu_clock", "cpu_cache", "memory", "gpu_memory", reason=MACHINE),
    **_named("gpus_training", "gpus_generating", "gpus_searching", reason=MACHINE),
    # what no study has
    **_named("states_within_distance", "states_within_distance_percent", reason=NEARER),
    **_named("goal_state_seconds", "goal_state_seconds_ratio", reason=OF_PROGRAM),
    **_named("state_bytes", reason="size of an object of the thesis's program"),
    **_named("generation_interval", reason="a setting of that program"),
    **_named("generation_time_ratio", reason="times of two processes of that program"),
    **_named("learning_rate_feasible", reason=ONE_RATE),
    **_named("residual_layers_added", "layers_left_out", reason="beside a network for another puzzle"),
    **_named("convergence_points_needed", "iterations_needed", "training_time_needed", reason=RECKONED),
    **_named("distance_learned", "distance_seen", reason=NO_POINTS),
    **_named("shortcut_distance", reason="a step of that solver"),
    "at_most_kociemba_percent": Quantity("at most as long as Kociemba's, %", 1),
    "median_length": Quantity("median length, moves", -1, reason=OF_15_TURNS),
    **_named("median_time", reason="of cubes that the slide does not name"),
    **_named("training_time_ratio", "accurate_from_scramble_moves", reason=NOT_REPEATED),
    **_named("greedy_worse_below_scramble_moves", reason=NOT_REPEATED),
    **_named("out_of_memory_path_weight", reason=NO_DATABASES),
    **_named("distance_solved", reason="not told what counts as solved well"),
    **_named("divergence_iteration", "manhattan_distance", "scramble_moves_solved"),
}
TIMES = tuple(name for name, quantity in OTHERS.items() if quantity.clock)


def quantity_of(name: str, thesis: bool = False) -> Quantity:
    """A quantity by its name in data/reported; thesis: in the tables of the thesis's own recipes."""
    return (THESIS if thesis and name in THESIS else OTHERS)[name]


def form_of(name: str, thesis: bool = False) -> Format:
    """How the numbers of a quantity are written."""
    if name in TIMES and (name in THESIS or not thesis):
        return lambda value: "–" if is_missing(value) else f"{value:,.3g}"
    if name in TINY and not thesis:
        return "{:.3g}".format
    if found := quantity_of(name).form:
        return found
    return percent if "percent" in name else places(3) if name in ERRORS else amount
