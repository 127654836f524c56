"""Tests that a run reports each dead layer once in a message."""

from arcadia_workers.trainer.run.progress import DeadLayerAlarm


def test_each_dead_layer_is_reported_once() -> None:
    alarm = DeadLayerAlarm()
    assert list(alarm.check({"network/dead_convolution_1": 0.99, "train/entropy": 1.0})) == []
    (first,) = alarm.check({"network/dead_convolution_1": 1.0})
    assert "convolution 1" in first
    assert "learning rate" in first
    (second,) = alarm.check({"network/dead_convolution_1": 1.0, "network/dead_hidden_1": 1.0})
    assert "hidden 1" in second
    (third,) = alarm.check({"network/dead_cells": 1.0})
    assert "units of the LSTM" in third
