"""`Pictures`: drawings and graph exports of a network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tanager.errors import InputError
from tanager.model.schema import Schema

if TYPE_CHECKING:
    from tanager.network.feature_effect import Effect
    from tanager.plots.network_picture import NetworkGraph

PAGE = 1130.0
"""Width to which charts are arranged, in pixels."""


class Pictures:
    """The pictures of a network, from its graph and the effects of its features."""

    schema: Schema

    @property
    @abstractmethod
    def graph(self) -> NetworkGraph:
        """Names, arcs, their strengths and the importances of the variables."""

    @abstractmethod
    def main_effects(self, n_effects: int) -> Sequence[Effect]:
        """Effects on the class, the most important ones first."""

    @abstractmethod
    def effect(self, *names: str) -> Effect:
        """The effect of one feature, or of several together, on the class."""

    def plot(self, ax: Any = None, *, title: str | None = None) -> Any:
        """Draw the network with matplotlib.

        Parents are above their children. The width of an arc grows with its strength;
        arcs of a class that is a parent of most features are faded, or left out with a
        note. Features without arcs are in a grid below.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure of the right size.
        title : str or None, default=None
            Text above.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            If matplotlib is not installed; it is in the extra ``plot``. `to_svg` does
            without it.
        """
        from tanager.plots.network_axes import draw_network

        return draw_network(self.graph, title=title, ax=ax)

    def plot_effects(self, n_effects: int = 9) -> Any:
        """Draw the most important effects on the class: curves and heat maps.

        Parameters
        ----------
        n_effects : int, default=9
            How many, at most.

        Returns
        -------
        matplotlib Figure
            With a panel for every effect. Needs the extra ``plot``.
        """
        from tanager.plots.style import require_matplotlib

        effects = self.main_effects(n_effects)
        if not effects:
            raise InputError(
                "There are no effects on a class to draw: the network has no class, "
                "or no feature. Draw the network itself: plot()."
            )
        require_matplotlib()
        from matplotlib import pyplot as plt

        n_columns = min(3, len(effects))
        n_rows = -(-len(effects) // n_columns)
        figure, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(4.0 * n_columns, 2.9 * n_rows),
            layout="constrained",
            squeeze=False,
        )
        for ax, effect in zip(axes.ravel(), effects, strict=False):
            effect.plot(ax=ax)
        for ax in axes.ravel()[len(effects) :]:
            ax.set_visible(False)
        return figure

    def to_svg(self, n_effects: int = 0) -> str:
        """Draw the network as SVG, without matplotlib.

        Parameters
        ----------
        n_effects : int, default=0
            How many of the most important effects on the class are drawn below the
            network, as curves and heat maps.

        Returns
        -------
        str
            An SVG document, light or dark by the preference of its reader. Full names
            appear where the pointer rests.

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> network.to_svg()[:40]
        '<svg xmlns="http://www.w3.org/2000/svg" '
        """
        from tanager.plots.network_svg import network_panel
        from tanager.plots.svg import arrange, write_svg

        panels = [network_panel(self.graph)]
        if n_effects:
            effects = [effect.panel() for effect in self.main_effects(n_effects)]
            panels.append(arrange(effects, width=PAGE))
        # One below the other.
        return write_svg(arrange(panels, width=0.0))

    def to_text(self, *, width: int = 80, ascii: bool = False) -> str:
        """Draw the network with characters, for terminals.

        Parameters
        ----------
        width : int, default=80
            Characters of a line; more are taken where the network needs them.
        ascii : bool, default=False
            Whether only characters of ASCII are used.

        Returns
        -------
        str

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> print(network.to_text(ascii=True))
         +------+
         | rain |
         +------+
             |
             |
             v
         +-----+
         | wet |
         +-----+
        """
        from tanager.plots.text_network import network_text

        return network_text(self.graph, width=width, ascii=ascii)

    def _repr_html_(self) -> str:
        """The network, as a notebook shows it."""
        return self.to_svg()

    def to_networkx(self) -> Any:
        """The graph as a networkx graph.

        Returns
        -------
        networkx.DiGraph or networkx.Graph
            Undirected for a `LogLinearNetwork`. Nodes have the attributes ``states``
            and ``is_class``, and edges ``strength``, as in `plot`.

        Raises
        ------
        InputError
            If networkx is not installed.
        """
        try:
            import networkx as nx
        except ImportError as error:
            raise InputError(
                "to_networkx needs networkx, which is not installed: pip install "
                "networkx. `edges` lists the arcs without it."
            ) from error
        found = self.graph
        graph = nx.DiGraph() if found.directed else nx.Graph()
        for index, variable in enumerate(self.schema):
            is_class = index == self.schema.target
            graph.add_node(variable.name, states=variable.states, is_class=is_class)
        strengths = found.strengths
        for k, (one, other) in enumerate(found.arcs):
            strength = {} if strengths is None else {"strength": float(strengths[k])}
            graph.add_edge(found.names[one], found.names[other], **strength)
        return graph
