"""An agent's network as an ONNX model, for runtimes other than torch.

It takes `observations` (n, …). It returns `value` with `logits` or with `mean` and `variance`, or it returns
`action_values`. The LSTM of trunk 0 takes `h0` and `c0`, which are zeros at the start of an episode, and returns
`next_h0` and `next_c0`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from arcadia_workers.contract.agents.document import FILTER_EPSILON, FILTER_LIMIT, NetworkShape
from arcadia_workers.contract.agents.weights import Weights

# Old enough for every runtime that is in use.
OPSET, IR_VERSION = 17, 8
ROWS = "n"


def to_onnx(shape: NetworkShape, network: Mapping[str, Weights], *, pixels: bool, continuous: bool) -> bytes:
    """Return the ONNX model of a network."""
    model = _Graph(network).build(shape, pixels=pixels, continuous=continuous)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


class _Graph:
    """A graph under construction. Its methods add nodes, and return the names of their outputs."""

    def __init__(self, network: Mapping[str, Weights]) -> None:
        self._network = network
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def build(self, shape: NetworkShape, *, pixels: bool, continuous: bool) -> Any:
        """Return the model."""
        kind = TensorProto.UINT8 if pixels else TensorProto.FLOAT
        self._inputs.append(helper.make_tensor_value_info("observations", kind, [ROWS, *shape.observation_shape]))
        states = self._add("Cast", ["observations"], to=TensorProto.FLOAT)
        features = [self._trunk(shape, name, states) for name in shape.trunks]
        if shape.lstm_units:
            features = [self._lstm(shape, number, x) for number, x in enumerate(features)]
        if shape.kind == "policy":
            self._policy(shape, features, continuous=continuous)
        else:
            self._action_values(shape, features[0])
        graph = helper.make_graph(
            self._nodes, "agent", self._inputs, self._outputs, initializer=list(self._constants.values())
        )
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="arcadia")

    def _trunk(self, shape: NetworkShape, name: str, x: str) -> str:
        for number, stride in enumerate(shape.strides):
            layer = f"{name}.convolutions.{number}"
            weight = self._network[f"{layer}.weight"].to_float32()
            # Pixels are 0–255, and the first layer scales them to 0–1.
            scaled = self._constant(f"{layer}.weight", weight / 255 if number == 0 else weight)
            x = self._add("Relu", [self._add("Conv", [x, scaled, self._weight(f"{layer}.bias")], strides=[stride] * 2)])
        if shape.strides:
            return self._add("Relu", [self._linear(f"{name}.hidden", self._add("Flatten", [x], axis=1))])
        if shape.filtered:
            x = self._filter(f"{name}.filter", x)
        for number in range(shape.layers):
            activation = "Tanh" if shape.activation == "tanh" else "Relu"
            x = self._add(activation, [self._linear(f"{name}.layers.{2 * number}", x)])
        return x

    def _filter(self, name: str, x: str) -> str:
        """Normalize readings by their mean and variance."""
        variance = self._network[f"{name}.variance"].to_float32()
        scale = self._constant(f"{name}.scale", 1 / np.sqrt(variance + np.float32(FILTER_EPSILON)))
        scaled = self._add("Mul", [self._add("Sub", [x, self._weight(f"{name}.mean")]), scale])
        limits = [self._constant(f"limit.{sign}", np.array(sign * FILTER_LIMIT, dtype=np.float32)) for sign in (-1, 1)]
        return self._add("Clip", [scaled, *limits])

    def _lstm(self, shape: NetworkShape, number: int, x: str) -> str:
        """o, i, f = σ(…), g = tanh(…);  c ← f·c + i·g;  h ← o·tanh c."""
        for name in (f"h{number}", f"c{number}"):
            self._inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, shape.lstm_units]))
        ih, hh, bias = (self._weight(f"lstms.{number}.{part}") for part in ("weight_ih", "weight_hh", "bias"))
        sums = self._add("Gemm", [f"h{number}", hh, self._add("Gemm", [x, ih, bias], transB=1)], transB=1)
        parts = self._split(sums, [shape.lstm_units] * 4)
        o, i, f = (self._add("Sigmoid", [part]) for part in parts[:3])
        new = self._add("Mul", [i, self._add("Tanh", [parts[3]])])
        c = self._add("Add", [self._add("Mul", [f, f"c{number}"]), new])
        h = self._add("Mul", [o, self._add("Tanh", [c])])
        for name, value in ((f"next_h{number}", h), (f"next_c{number}", c)):
            self._output(name, value, [ROWS, shape.lstm_units])
        return h

    def _policy(self, shape: NetworkShape, features: list[str], *, continuous: bool) -> None:
        numbers = self._linear("policy", features[0])
        if shape.deviations:
            log_deviation = self._network["policy.log_deviation"].to_float32()
            variance = self._constant("policy.variance", np.exp(2 * log_deviation))
            self._output("mean", numbers, [ROWS, shape.outputs])
            rows = self._add("Shape", [numbers])
            self._output("variance", self._add("Expand", [variance, rows]), [ROWS, shape.outputs])
        elif continuous:
            mean, variance = self._split(numbers, [shape.outputs - 1, 1])
            self._output("mean", mean, [ROWS, shape.outputs - 1])
            self._output("variance", self._add("Softplus", [variance]), [ROWS, 1])
        else:
            self._output("logits", numbers, [ROWS, shape.outputs])
        self._output("value", self._linear("value", features[-1]), [ROWS, 1])

    def _action_values(self, shape: NetworkShape, features: str) -> None:
        if not shape.dueling:
            self._output("action_values", self._linear("values", features), [ROWS, shape.outputs])
            return
        units = self._network["values.weight"].shape[1], self._network["advantages.weight"].shape[1]
        of_value, of_advantages = self._split(features, [*units])
        advantages = self._linear("advantages", of_advantages)
        centered = self._add("Sub", [advantages, self._add("ReduceMean", [advantages], axes=[1], keepdims=1)])
        self._output(
            "action_values", self._add("Add", [self._linear("values", of_value), centered]), [ROWS, shape.outputs]
        )

    def _linear(self, name: str, x: str) -> str:
        return self._add("Gemm", [x, self._weight(f"{name}.weight"), self._weight(f"{name}.bias")], transB=1)

    def _split(self, x: str, sizes: list[int]) -> list[str]:
        """Split columns into parts of these sizes."""
        parts = self._constant(f"sizes.{len(self._nodes)}", np.array(sizes, dtype=np.int64))
        names = [f"split{len(self._nodes)}.{number}" for number, _ in enumerate(sizes)]
        self._nodes.append(helper.make_node("Split", [x, parts], names, axis=1))
        return names

    def _add(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{operator.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _output(self, name: str, value: str, shape: list[Any]) -> None:
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def _weight(self, name: str) -> str:
        return self._constant(name, self._network[name].to_float32())

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self._constants[name] = numpy_helper.from_array(array, name)
        return name
