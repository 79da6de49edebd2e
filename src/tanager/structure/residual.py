from __future__ import annotations
import time
import numpy as np
from dataclasses import dataclass
from math import ceil
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.core.threads import one_blas_thread
from tanager.optim import lbfgs
from tanager.parameters.conditional import ConditionalLikelihood
from tanager.parameters.convex import PenalisedLikelihood
from tanager.parameters.normalising import Normaliser
from tanager.parameters.penalty import Coordinates
from tanager.parameters.weight_tables import WeightTables
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.chordal import ChordalGraph
from tanager.structure.constraints import Constraints
from tanager.structure.residual_statistics import Residuals, posteriors

class ResidualTree(StructureLearner):
    def __init__(self, *, k=1, stages=8, C=1.0, ridge=None, smooth=False, pair_bins=None, tol=0.1, root=0, verbose=False, corr=0.0, last=True):
        self.k=k; self.stages=stages; self.C=C; self.ridge=ridge; self.smooth=smooth; self.pair_bins=pair_bins; self.tol=tol; self.root=root; self.verbose=verbose; self.corr=corr; self.last=last

    def learn(self, data, *, random_state=None):
        with one_blas_thread():
            return self._learn(data)

    def _learn(self, data):
        schema=data.schema; D=len(schema)-1
        n_jobs=getattr(data,"n_jobs",None)
        blocks=tuple(data.blocks())
        codes=np.ascontiguousarray(np.concatenate([b.codes for b in blocks],axis=0))
        labels=np.concatenate([b.labels for b in blocks])
        weights=None if blocks[0].weights is None else np.concatenate([b.weights for b in blocks])
        cons=Constraints.compile(schema,max_parents=self.k)
        graph=ChordalGraph.empty(self.k,cons,self.root)
        states=[v.n_states for v in schema][:-1]
        if self.pair_bins:
            for j,v in enumerate(schema):
                if j<D and v.ordered and v.n_states>self.pair_bins:
                    g=np.arange(v.n_states)*self.pair_bins//v.n_states
                    look=np.append(g,self.pair_bins).astype(codes.dtype)
                    codes[:,j]=look[codes[:,j]]; states[j]=self.pair_bins
        former=None; trace=[]
        per=ceil(graph.most_edges/self.stages)
        edges=[]
        for stage in range(self.stages+1):
            t0=time.time()
            parents=graph.parents()
            structure=Structure.class_rooted([*parents,()],D)
            layout=FamilyLayout.of_structure(schema,structure)
            tables=WeightTables.of(layout,2)
            co=Coordinates.of(tables.tables,schema,smooth=self.smooth,bins=self.pair_bins)
            rows=ConditionalLikelihood(tables.tables,blocks,n_jobs)
            prob=PenalisedLikelihood(rows,co,self.C)
            u0=np.zeros(co.n_coordinates) if former is None else co.carried(*former)
            v0,g0=prob.value_and_gradient(u0)
            u,it=lbfgs(prob.value_and_gradient,u0,max_iter=500,tol=self.tol*float(np.abs(g0).max()))
            v1,_=prob.value_and_gradient(u)
            former=(co,u)
            t1=time.time()
            if stage==self.stages: break
            P=posteriors(tables.tables,co.weights(u),blocks,n_jobs)
            t2=time.time()
            res=Residuals.of(P,labels,weights)
            ridge=self.ridge if self.ridge is not None else 1/self.C
            S=res.pair_scores(codes,states,graph.candidates,ridge,n_jobs)
            t3=time.time()
            new=graph.add_best(np.round(S,9),per)
            edges+=new
            if self.verbose: print(f"stage {stage} it {it} obj {v0:.4f}->{v1:.4f} fit {t1-t0:.2f}s post {t2-t1:.2f} score {t3-t2:.2f} grow {time.time()-t3:.2f} entries {len(res.rows)}/{P.size} S {[round(float(S[e]),1) for e in new[:3]]} {len(edges)}",flush=True)
            if not new: break
        if self.verbose: print(f"last it {it} obj {v0:.4f}->{v1:.4f} {t1-t0:.2f}s")
        norm=Normaliser(structure,layout)
        start=Parameters(layout,norm.normalise(tables.added_up(co.weights(u)))[0])
        return StructureResult(structure,tuple(trace),start)
