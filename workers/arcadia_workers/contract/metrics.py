"""Catalog of the metrics of runs: names, titles, units and shared charts.

A section is the part of a name before its slash. Sections and their metrics appear on the page in this order. The
trainer repeats the names where it reports them, and a test compares both.
"""

from dataclasses import dataclass

# Each episode is one point of these two.
EPISODE_RETURN = "episode/return"
EPISODE_LENGTH = "episode/length"
# Programs that log no single episodes, such as Stable-Baselines3, log means over the recent ones.
MEAN_RETURN = "episode/mean_return"
MEAN_LENGTH = "episode/mean_length"
STEPS_PER_SECOND = "throughput/steps_per_second"
# Rate of the environments alone, measured once per attempt.
CEILING = "throughput/ceiling_steps_per_second"


@dataclass(frozen=True)
class Metric:
    """A number that changes while a run trains."""

    name: str
    title: str
    unit: str = ""  # empty if the title states it; sizes show MiB or GiB with each value

    @property
    def heading(self) -> str:
        """Return the title with the unit. Sizes show the unit with each value instead."""
        return f"{self.title}, {self.unit}" if self.unit and not self.unit.startswith("bytes") else self.title


@dataclass(frozen=True)
class MetricGroup:
    """Metrics that share one chart."""

    title: str
    metrics: tuple[Metric, ...]
    shares: bool = False  # draw each as a share of their sum, stacked
    counts: bool = False  # these are counts that change rarely, so smoothing would mislead


@dataclass(frozen=True)
class MetricSection:
    """Metrics under one heading: those with their own chart, then those that share one."""

    prefix: str
    title: str
    metrics: tuple[Metric, ...]
    groups: tuple[MetricGroup, ...] = ()

    @property
    def all_metrics(self) -> tuple[Metric, ...]:
        """Return every metric of the section, in order."""
        return (*self.metrics, *(metric for group in self.groups for metric in group.metrics))


# Convolutions, hidden layers and LSTM cells of the largest networks. Layers whose units cannot die report nothing.
DEAD_UNITS = (
    *(
        Metric(f"network/dead_{layer}_{number}", f"Dead in {layer} {number}", "share")
        for layer, most in (("convolution", 3), ("hidden", 8))
        for number in range(1, most + 1)
    ),
    Metric("network/dead_cells", "Dead in the LSTM", "share"),
)

CATALOG: tuple[MetricSection, ...] = (
    MetricSection(
        "episode",
        "Episodes",
        (
            Metric(EPISODE_RETURN, "Return per episode"),
            Metric(EPISODE_LENGTH, "Steps per episode"),
            Metric(MEAN_RETURN, "Mean return of recent episodes"),
            Metric(MEAN_LENGTH, "Mean steps of recent episodes"),
        ),
    ),
    MetricSection(
        "train",
        "Learning",
        (
            Metric("train/policy_loss", "Policy loss"),
            Metric("train/value_loss", "Value loss"),
            Metric("train/q_mean", "Mean Q of the actions taken"),
            Metric("train/entropy", "Policy entropy"),
            Metric("train/epsilon", "Mean ε, the share of random actions"),
            Metric("train/grad_norm", "Gradient norm"),
            Metric("train/learning_rate", "Learning rate"),
            Metric("train/policy_lag", "Policy lag", "updates"),
            Metric("train/kl_divergence", "Divergence from the policy that acted, KL"),
            Metric("train/clip_fraction", "Steps whose policy change was clipped", "share"),
        ),
    ),
    MetricSection(
        "network",
        "Network",
        (Metric("network/value_spread", "Spread of values over states, standard deviation"),),
        (
            MetricGroup(
                "Dead units, share of each layer",
                DEAD_UNITS,
                counts=True,
            ),
        ),
    ),
    MetricSection(
        "ga3c",
        "GA3C",
        (
            Metric("ga3c/policy_lag", "Policy lag", "updates"),
            Metric("ga3c/prediction_batch", "Prediction batch", "states"),
            Metric("ga3c/training_batch", "Training batch", "experiences"),
        ),
        (
            MetricGroup(
                "Agents, predictors and trainers",
                (
                    Metric("ga3c/agents", "Agents"),
                    Metric("ga3c/predictors", "Predictors"),
                    Metric("ga3c/trainers", "Trainers"),
                ),
                counts=True,
            ),
            MetricGroup(
                "Waiting in the queues",
                (
                    Metric("ga3c/prediction_queue", "Prediction queue"),
                    Metric("ga3c/training_queue", "Training queue"),
                ),
            ),
        ),
    ),
    MetricSection(
        "gorila",
        "Gorila",
        (
            Metric("gorila/staleness", "Mean staleness of gradients", "updates"),
            Metric("gorila/replay_fill", "Replay memory in use", "share"),
            Metric("gorila/lost_roles", "Roles lost and replaced"),
        ),
        (
            MetricGroup(
                "Gradients by staleness, updates",
                (
                    Metric("gorila/staleness_0", "Staleness 0", "gradients"),
                    Metric("gorila/staleness_1_to_3", "Staleness 1 to 3", "gradients"),
                    Metric("gorila/staleness_4_to_15", "Staleness 4 to 15", "gradients"),
                    Metric("gorila/staleness_16_to_63", "Staleness 16 to 63", "gradients"),
                    Metric("gorila/staleness_64_to_255", "Staleness 64 to 255", "gradients"),
                    Metric("gorila/staleness_256_and_more", "Staleness 256 and more", "gradients"),
                ),
                shares=True,
            ),
            MetricGroup(
                "Gradients discarded",
                (
                    Metric("gorila/discarded_stale", "Discarded stale", "gradients"),
                    Metric("gorila/discarded_outlier", "Discarded outlier", "gradients"),
                ),
                counts=True,
            ),
            MetricGroup(
                "Busy share of each role",
                (
                    Metric("gorila/actor_busy", "Actor busy", "share"),
                    Metric("gorila/learner_busy", "Learner busy", "share"),
                    Metric("gorila/shard_busy", "Shard busy", "share"),
                    Metric("gorila/replay_busy", "Replay busy", "share"),
                ),
            ),
            MetricGroup(
                "Bytes per second to and from the shards",
                (
                    Metric("gorila/bytes_pushed_per_second", "Bytes pushed per second", "bytes/s"),
                    Metric("gorila/bytes_pulled_per_second", "Bytes pulled per second", "bytes/s"),
                ),
            ),
        ),
    ),
    MetricSection(
        "throughput",
        "Throughput",
        (
            Metric(STEPS_PER_SECOND, "Steps per second"),
            Metric(CEILING, "Steps per second of the environments alone"),
            Metric("throughput/updates_per_second", "Updates per second (TPS)"),
            Metric("throughput/predictions_per_second", "Predictions per second (PPS)"),
        ),
    ),
    MetricSection(
        "time",
        "Time",
        (),
        (
            MetricGroup(
                "Where the time goes",
                (
                    Metric("time/environment", "Environment", "share"),
                    Metric("time/selection", "Selection", "share"),
                    Metric("time/learning", "Learning", "share"),
                ),
                shares=True,
            ),
        ),
    ),
    MetricSection(
        "system",
        "System",
        (
            Metric("system/cpu_percent", "Processor use", "%"),
            Metric("system/rss_bytes", "Memory", "bytes"),
            Metric("system/gpu_percent", "GPU use", "%"),
            Metric("system/gpu_memory_bytes", "GPU memory", "bytes"),
            Metric("system/gpu_power_watts", "GPU power", "W"),
            Metric("system/gpu_temperature", "GPU temperature", "°C"),
        ),
        (
            MetricGroup(
                "Disks of the host, bytes per second",
                (
                    Metric("system/disk_read_bytes_per_second", "Disk reads", "bytes/s"),
                    Metric("system/disk_written_bytes_per_second", "Disk writes", "bytes/s"),
                ),
            ),
            MetricGroup(
                "Networks of the host, bytes per second",
                (
                    Metric("system/network_received_bytes_per_second", "Network received", "bytes/s"),
                    Metric("system/network_sent_bytes_per_second", "Network sent", "bytes/s"),
                ),
            ),
        ),
    ),
)

METRICS = {metric.name: metric for section in CATALOG for metric in section.all_metrics}


def named(name: str) -> Metric:
    """Return a metric of the catalog. The title of an unknown one is the last part of its name."""
    words = name.rsplit("/", 1)[-1].replace("_", " ")
    return METRICS.get(name) or Metric(name, words[:1].upper() + words[1:])
