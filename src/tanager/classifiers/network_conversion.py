"""`NetworkConversionMixin`: classifiers that are made from networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanager import network as networks
from tanager.classifiers.inspection import InspectionMixin
from tanager.errors import InputError
from tanager.model.schema import states_array

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.network import AnyNetwork


class NetworkConversionMixin(InspectionMixin):
    """Fitted classifiers of a network, or of a part of it."""

    @classmethod
    def from_network(
        cls, network: AnyNetwork, target: str | None = None
    ) -> BayesNetClassifier:
        """Make a fitted classifier from a network.

        Parameters
        ----------
        network : Network or LogLinearNetwork
            The network.
        target : str or None, default=None
            The class variable; the network's own target by default.

        Returns
        -------
        BayesNetClassifier
            Its features are the other variables, in their order. Data with column
            names are matched by name: in any order, an absent column is missing in
            every sample, and the column of the target is ignored. Model files do not
            store this matching, but pickle does.

        Examples
        --------
        >>> from tanager import BayesNetClassifier, Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> model = BayesNetClassifier.from_network(network, target="rain")
        >>> model.classes_, model.feature_names_in_
        (array(['no', 'yes'], dtype='<U3'), array(['wet'], dtype=object))
        """
        from tanager.classifiers.bayes_net import BayesNetClassifier

        if not isinstance(network, networks.AnyNetwork):
            raise InputError(
                "from_network expects a Network, got a "
                f"{type(network).__name__}; tanager.load reads files."
            )
        whole = network.with_target_last(target)
        classes = states_array(whole.schema.target_variable.states)
        return BayesNetClassifier()._set_network(whole, classes, has_names=True)

    def blanket_classifier(self, *, exact: bool = True) -> BayesNetClassifier:
        """Make a classifier on the Markov blanket of the class only.

        Parameters
        ----------
        exact : bool, default=True
            Whether its probabilities equal those of this classifier, given its
            features, for all samples. If False, they do for samples without missing
            values; see `Network.blanket_network`.

        Returns
        -------
        BayesNetClassifier
            Fitted; its features are those in `markov_blanket_`, in that order. Data
            with column names are matched by name, as in `from_network`.

        Examples
        --------
        >>> from tanager import BayesNetClassifier, Network
        >>> steps = [[0.9, 0.1], [0.3, 0.7]]
        >>> chain = Network.build(
        ...     dict.fromkeys("abc", [0, 1]),
        ...     {"a": [0.6, 0.4], "b": (["a"], steps), "c": (["b"], steps)},
        ... )
        >>> model = BayesNetClassifier.from_network(chain, target="c")
        >>> model.blanket_classifier().feature_names_in_
        array(['b'], dtype=object)
        """
        from tanager.classifiers.bayes_net import BayesNetClassifier

        network = self._fitted().network_.blanket_network(exact=exact)
        if len(network.schema) == 1:
            raise InputError(
                "The Markov blanket of the class is empty, so the classifier would "
                "have no features. All samples get the prior: network_.posterior()."
            )
        small = BayesNetClassifier(
            missing=self.missing, unknown=self.unknown, n_jobs=self.n_jobs
        )
        has_names = hasattr(self, "feature_names_in_")
        return small._set_network(network, self.classes_, has_names=has_names)
