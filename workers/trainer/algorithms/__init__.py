"""One module an algorithm, each with `train(config, run)`, each reading like its paper's pseudocode."""
