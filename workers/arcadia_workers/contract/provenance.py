"""Provenance of an attempt: the code, packages, host and command that it was made with."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from arcadia_workers.contract.values import Count, Message, SmallCount, Text, Truth

# A provenance is one event, which must fit into a line of the event file.
MAX_DIFF_BYTES = 1_000_000
MAX_UNTRACKED = 1_000
MAX_PACKAGES = 10_000
MAX_VARIABLES = 500


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Checkout(_Part):
    """The state of the git checkout that Arcadia's code runs from."""

    commit: Text
    branch: Text | None = Field(description="Null if no branch is checked out.")
    dirty: Truth = Field(description="Whether tracked files differ from the commit, or untracked files exist.")
    diff_cut: Truth = Field(description="Whether the diff is longer than the part that is kept.")
    untracked: Annotated[list[Text], Field(max_length=MAX_UNTRACKED)] = Field(
        description="Paths of files that are neither tracked nor ignored."
    )


class Gpu(_Part):
    """A GPU of the host."""

    name: Text
    memory_bytes: Count


class ProvenanceFacts(_Part):
    """The small part of a provenance: everything but the packages and the diff."""

    build: Text = Field(description="Version and commit of Arcadia.")
    checkout: Checkout | None = Field(description="Null if Arcadia was installed from a wheel or an image.")
    problem: Message | None = Field(description="Why the state of the checkout is unknown, if it is.")
    python: Text
    host: Text
    os: Text
    cpu: Text
    cores: SmallCount = Field(description="Cores that the trainer may use.")
    memory_bytes: Count = Field(description="Memory of the host.")
    gpus: list[Gpu]
    driver: Text | None = Field(description="Version of the NVIDIA driver.")
    cuda: Text | None = Field(description="Newest CUDA version that the driver supports.")
    command: list[Text]
    environment: Annotated[dict[Text, Text], Field(max_length=MAX_VARIABLES)] = Field(
        description="Environment variables that affect training or its speed, without secrets."
    )


class Provenance(ProvenanceFacts):
    """The code, packages, host and command that an attempt was made with."""

    packages: Annotated[dict[Text, Text], Field(max_length=MAX_PACKAGES)] = Field(
        description="Version of each installed Python package."
    )
    diff: Annotated[Text, Field(max_length=MAX_DIFF_BYTES)] = Field(
        description="Changes of tracked files since the commit. Only its first megabyte is kept."
    )
