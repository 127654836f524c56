"""NVIDIA GPUs, read with the management library (NVML) of their driver. No Python package is needed."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

LIBRARY = "libnvidia-ml.so.1"
TEMPERATURE_OF_CHIP = 0
MAX_PROCESSES = 256
_DEVICE_FILE = re.compile(r"/dev/nvidia(\d+)")


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    """Version 2 of the structure. Version 1 counts the memory that the driver reserves as used."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class NvmlError(Exception):
    """A value that the driver does not report."""


class Gpus:
    """The GPUs of this host. There are none without a driver."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._handles: list[ctypes.c_void_p] = []
        with contextlib.suppress(OSError, NvmlError, AttributeError):  # no driver, or one without these functions
            self._library: Any = ctypes.CDLL(LIBRARY)
            self._call("nvmlInit_v2")
            count = ctypes.c_uint()
            self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
            for number in range(count.value):
                handle = ctypes.c_void_p()
                self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(number), ctypes.byref(handle))
                self._handles.append(handle)

    def sample(self, processes: Collection[int]) -> dict[str, float]:
        """Return the metrics of the GPUs that these processes use: the mean load, the hottest, and otherwise sums."""
        used = [gpu for gpu in self._handles if self._processes_on(gpu) & set(processes)]
        if not used and (minors := self._open_devices(processes)):
            # In a container, the driver knows the processes by other numbers.
            used = [gpu for gpu in self._handles if self._read("nvmlDeviceGetMinorNumber", gpu) in minors]
        loads, sizes, powers, temperatures = (
            [value for gpu in used if (value := read(gpu)) is not None]
            for read in (self._load, self._memory, self._power, self._temperature)
        )
        found = {}
        if loads:
            found["system/gpu_percent"] = sum(loads) / len(loads)
        if sizes:
            found["system/gpu_memory_bytes"] = float(sum(sizes))
        if powers:
            found["system/gpu_power_watts"] = sum(powers) / 1000
        if temperatures:
            found["system/gpu_temperature"] = float(max(temperatures))
        return found

    def _processes_on(self, gpu: ctypes.c_void_p) -> set[int]:
        processes, count = (_Process * MAX_PROCESSES)(), ctypes.c_uint(MAX_PROCESSES)
        try:
            self._call("nvmlDeviceGetComputeRunningProcesses_v3", gpu, ctypes.byref(count), processes)
        except (NvmlError, AttributeError):
            return set()
        return {each.pid for each in processes[: count.value]}

    def _open_devices(self, processes: Collection[int]) -> set[int]:
        """Return the numbers of the GPUs whose device files the processes have opened."""
        found = set()
        for process in processes:
            with contextlib.suppress(OSError):  # it has ended
                for file in (self._proc / str(process) / "fd").iterdir():
                    with contextlib.suppress(OSError):
                        if device := _DEVICE_FILE.fullmatch(str(file.readlink())):
                            found.add(int(device[1]))
        return found

    def _load(self, gpu: ctypes.c_void_p) -> int | None:
        rates = _Utilization()
        return rates.gpu if self._fill("nvmlDeviceGetUtilizationRates", gpu, rates) else None

    def _memory(self, gpu: ctypes.c_void_p) -> int | None:
        memory = _Memory(version=ctypes.sizeof(_Memory) | 2 << 24)
        return memory.used if self._fill("nvmlDeviceGetMemoryInfo_v2", gpu, memory) else None

    def _power(self, gpu: ctypes.c_void_p) -> int | None:
        return self._read("nvmlDeviceGetPowerUsage", gpu)

    def _temperature(self, gpu: ctypes.c_void_p) -> int | None:
        return self._read("nvmlDeviceGetTemperature", gpu, ctypes.c_uint(TEMPERATURE_OF_CHIP))

    def _read(self, name: str, *arguments: Any) -> int | None:
        value = ctypes.c_uint()
        return value.value if self._fill(name, *arguments, value) else None

    def _fill(self, name: str, *arguments: Any) -> bool:
        """Call a function that fills its last argument. Return False if the GPU does not report the value."""
        try:
            self._call(name, *arguments[:-1], ctypes.byref(arguments[-1]))
        except (NvmlError, AttributeError):
            return False
        return True

    def _call(self, name: str, *arguments: Any) -> None:
        if code := getattr(self._library, name)(*arguments):
            raise NvmlError(f"{name} returned {code}")
