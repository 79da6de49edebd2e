"""Our networks in pyAgrum."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanager import Network


def to_pyagrum(network: Network) -> Any:
    """The same network as a ``pyagrum.BayesNet``, with states as labels."""
    import pyagrum as gum

    theirs = gum.BayesNet()
    for variable in network.schema:
        labels = [str(state) for state in variable.states]
        theirs.add(gum.LabelizedVariable(variable.name, "", labels))
    for name in network.schema.names:
        for parent in network.parents(name):
            theirs.addArc(parent, name)
        cpt, table = theirs.cpt(name), network.table(name)
        # Their axes are named from the last to the first.
        order = [table.names.index(axis) for axis in reversed(cpt.names)]
        cpt[:] = np.ascontiguousarray(table.values.transpose(order))
    return theirs
