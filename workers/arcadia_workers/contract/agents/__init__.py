"""Agent files: an agent and everything needed to play it elsewhere, in one zip file (docs/agents.md).

    writing       one file, from a checkpoint
      onnx_graph    the network for other runtimes
      play          the program that plays the agent, copied into the file; no module imports it
    document      agent.json, the network's shape, and README.md with the curve
    weights       weights in checkpoints and files

Nothing here imports torch, so the server makes and reads these files without a worker.
"""
