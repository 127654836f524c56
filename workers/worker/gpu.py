"""Check that PyTorch can use a GPU before a worker serves the GPU queue."""

import subprocess
import sys

CHECK_SECONDS = 120
# A separate process: the worker needs neither torch's memory nor a CUDA context.
CHECK = "import torch; print(torch.version.cuda is not None, torch.cuda.is_available())"
INSTEAD = "For a worker without a GPU, use --queue cpu."


def gpu_problem(check: str = CHECK) -> str | None:
    """Return why runs of the GPU queue cannot train here and how to fix it, or None if they can."""
    try:
        result = subprocess.run(
            [sys.executable, "-c", check], capture_output=True, text=True, timeout=CHECK_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no output"])[-1]
        return f"PyTorch does not start: {last}. Install Arcadia's packages for training again."
    except subprocess.TimeoutExpired:
        return f"PyTorch did not answer within {CHECK_SECONDS} s. Check the GPU with nvidia-smi."
    built_for_cuda, available = (word == "True" for word in result.stdout.split()[-2:])
    if available:
        return None
    if not built_for_cuda:
        return (
            "The queue is gpu, but the installed PyTorch is a CPU build. Install a build with CUDA; for Docker, "
            f"build the service worker-gpu, which does so. {INSTEAD}"
        )
    return (
        "The queue is gpu, but PyTorch finds no GPU. Check that nvidia-smi lists one on the host. In a container, "
        "install the NVIDIA container toolkit and start the worker with: docker compose --profile gpu up. "
        f"{INSTEAD}"
    )
