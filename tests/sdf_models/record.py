# SPDX-License-Identifier: BSD-3-Clause
"""Writes places and accelerations of the links of the cases in ``test_sdf_file.py``, by Drake, at two states each.

``PYTHONPATH=tests python tests/sdf_models/record.py`` with drake==1.51.1; the test reads the JSON file, without Drake.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.all import MultibodyPlant, Parser
from test_sdf_file import CASES


def states(text: str) -> list[dict[str, Any]]:
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    rng, n, found = np.random.default_rng(0), plant.num_positions(), []
    for _ in range(2):
        x = rng.uniform(-1, 1, 2 * n).round(3)
        plant.SetPositionsAndVelocities(context, x)
        links = {}
        for index in plant.GetBodyIndices(plant.GetModelInstanceByName("m")):
            body = plant.get_body(index)
            pose, rate = body.EvalPoseInWorld(context), body.EvalSpatialAccelerationInWorld(context)
            turn = pose.rotation().matrix().tolist()
            linear, angular = rate.translational().tolist(), rate.rotational().tolist()
            links[body.name()] = pose.translation().tolist(), turn, linear, angular
        found.append({"x": x.tolist(), "links": links})
    return found


Path(__file__).with_name("drake.json").write_text(json.dumps({name: states(text) for name, text in CASES.items()}))
