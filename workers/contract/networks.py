"""Architectures of the papers' convolutional networks."""

# (output channels, kernel, stride) of each convolution, and the width of the hidden layer after them.
Convolutions = tuple[tuple[int, int, int], ...]
ARCHITECTURES: dict[str, tuple[Convolutions, int]] = {
    "nips": (((16, 8, 4), (32, 4, 2)), 256),
    "nature": (((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512),
    # GA3C, section 5.1: more filters, a third layer, and a first stride that sets the cost.
    "large-stride-4": (((32, 8, 4), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-3": (((32, 8, 3), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-2": (((32, 8, 2), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-1": (((32, 8, 1), (32, 4, 2), (64, 4, 2)), 1024),
}
