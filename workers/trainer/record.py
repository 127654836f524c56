"""`arcadia record`: record an episode of an agent, with a track of observations, network outputs and rewards."""

import os
import sys
from collections.abc import Sequence

from workers.contract.plugins.loading import load_named_in_environment
from workers.contract.tracks import TrackHead
from workers.trainer.errors import StopRequest, TrainerError, show
from workers.trainer.evaluation.report import rounded
from workers.trainer.evaluation.request import RequestError, check_fit
from workers.trainer.recording import request as requests
from workers.trainer.recording.request import RecordRequest


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return the exit status."""
    load_named_in_environment()
    try:
        request = requests.read(requests.parser().parse_args(arguments))
    except TrainerError as error:
        print(error, file=sys.stderr)
        return 2
    stop = StopRequest()
    try:
        stop.listen()
        head = recorded(request, stop)
    except KeyboardInterrupt:
        print(f"{stop.reason}: nothing was recorded", file=sys.stderr)
        return 1
    except TrainerError as error:
        show(error)
        return 2 if isinstance(error, RequestError) else 1
    except OSError as error:
        print(f"--out {request.folder} cannot be used: {error.strerror or error}", file=sys.stderr)
        return 1
    except Exception as error:
        show(error)
        return 1
    print(head.model_dump_json(indent=2) if request.json else sentence(head, request), flush=True)
    return 0


def recorded(request: RecordRequest, stop: StopRequest) -> TrackHead:
    """Record the requested episode."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    from workers.contract.config.emulator import protocol_of
    from workers.contract.protocols import PROTOCOLS
    from workers.trainer.games import subjects  # loads torch, which takes seconds
    from workers.trainer.recording.recording import RecordedEpisode, files_in, record

    stop.interrupts = False
    checkpoint, config = subjects.read(request.run_directory, request.step)
    protocol = PROTOCOLS[request.protocol or protocol_of(config.model_dump())]
    check_fit(protocol, config.env, saves_starts=False)
    wanted = RecordedEpisode(protocol, request.seed, request.episode, request.longest_seconds)
    return record(checkpoint, config, wanted, files_in(request.folder), stop.requested).head


def sentence(head: TrackHead, request: RecordRequest) -> str:
    """Return a sentence about the recording."""
    seconds = head.pictures / head.pictures_per_second
    score = f"{rounded(head.score)} points{' so far' if head.ended == 'unfinished' else ''}"
    who = f"{head.algorithm} at step {head.checkpoint_step:,} on {head.env}"
    return f"{request.folder}: {seconds:.1f} s of {who}, {score}, {head.protocol}, seed {head.seed}"


if __name__ == "__main__":
    sys.exit(main())
