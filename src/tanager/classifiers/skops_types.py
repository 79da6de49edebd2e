"""Types in skops files of fitted classifiers, to be trusted when they are loaded."""

from __future__ import annotations

SKOPS_TYPES = (
    "builtins.frozenset",
    "numpy.dtype",
    "tanager.classifiers.bayes_net.BayesNetClassifier",
    "tanager.classifiers.presets.NaiveBayesClassifier",
    "tanager.classifiers.presets.TANClassifier",
    "tanager.data.coded_data.CountedData",
    "tanager.data.counts.Counts",
    "tanager.data.counts.PairCounts",
    "tanager.encoding.numeric_encoders.EqualWidthEncoder",
    "tanager.encoding.numeric_encoders.MDLEncoder",
    "tanager.encoding.numeric_encoders.QuantileEncoder",
    "tanager.encoding.table_encoder.TableEncoder",
    "tanager.loglinear.factor.Axis",
    "tanager.loglinear.factor.Factor",
    "tanager.loglinear.factor_statistics.FactorStatistics",
    "tanager.loglinear.factor_statistics.TermStatistics",
    "tanager.loglinear.fitted_factors.FactorTable",
    "tanager.loglinear.fitted_factors.FactorTables",
    "tanager.loglinear.factor_uncertainty.CurvatureSamples",
    "tanager.loglinear.kept_samples.KeptSamples",
    "tanager.model.layout.FamilyLayout",
    "tanager.model.layout.Parameters",
    "tanager.model.schema.Schema",
    "tanager.model.schema.Variable",
    "tanager.model.structure.Structure",
    "tanager.network.loglinear_network.LogLinearNetwork",
    "tanager.network.network.Network",
    "tanager.parameters.conditional_likelihood.ConditionalLikelihood",
    "tanager.parameters.elr.ELR",
    "tanager.parameters.frequency.Frequency",
    "tanager.parameters.keep_tables.KeepTables",
    "tanager.structure.factor_search.FactorSearch",
    "tanager.structure.orders.kdb.KDB",
    "tanager.structure.residual.residual_tree.ResidualTree",
    "tanager.structure.trees.chow_liu.ChowLiu",
    "tanager.structure.trees.naive_bayes.NaiveBayes",
)
"""Types that skops must trust for the default model, naive Bayes, trees and KDB.

All are values and estimators of tanager, which run no code from the file.
"""
