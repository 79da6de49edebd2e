"""Fits with a checkpoint: resumed anywhere they give the same bits, and no less."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager import BayesNetClassifier, GumbelTree, LossMinimizer, load
from tanager.data.round_journal import RoundJournal
from tanager.errors import InputError
from tanager.losses import HybridLoss, MarginLoss
from tanager.parameters import loss_minimizer
from tanager.parameters.epoch_descent import EpochDescent

NAMES = [
    "auto", "NB+DFE", "NB+ELR", "NB+EM", "NB+APN", "TAN-CMI-RCL", "TAN-RES-SCL",
    "TAN-CR-ML", "TAN-OMI-CR-ML", "TAN-OMI-CL-ML", "2-tree-SuperParent-ML", "KDB2-ML",
    "HGC+FE", "GBN+FE", "TAN-CMI-MM", "TAN-CMI-HYB",
]  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    """Dependent features of two and three states, a numeric one, missing values."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 240)
    columns = [
        np.where(random.random(240) < 0.5, y, random.integers(0, 2 + j % 2, 240))
        for j in range(4)
    ]
    X = np.column_stack([*columns, y + random.normal(size=240)])
    X[random.random(X.shape) < 0.05] = np.nan
    return X, np.array(["a", "b", "c"])[y]


class KilledError(Exception):
    """Stands for the end of the process."""


def fit_until(monkeypatch, model, samples, n_results):
    """Fit until so many results are in the file; whether the fit was done before."""
    write = RoundJournal._write_record

    def write_and_count(journal, content):
        write(journal, content)
        if journal.n_recalled + journal.n_written >= n_results:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(RoundJournal, "_write_record", write_and_count)
        try:
            model.fit(*samples)
        except KilledError:
            return False
    return True


def make(name, **options):
    known = {"random_state": 0, **options}
    model = BayesNetClassifier.from_name(name, **known)
    if "parameters__max_iter" in model.get_params():
        model.set_params(parameters__max_iter=5)
    return model


@pytest.mark.contract
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_fit_resumed_anywhere_is_the_same(name, samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    whole = make(name, checkpoint=path).fit(*samples)
    expected = whole.predict_proba(samples[0])
    assert not path.exists()
    n_results = 1
    while not fit_until(monkeypatch, make(name, checkpoint=path), samples, n_results):
        assert path.exists()
        resumed = make(name, checkpoint=path).fit(*samples)
        assert resumed.network_.edges == whole.network_.edges
        assert (resumed.predict_proba(samples[0]) == expected).all()
        assert not path.exists()
        n_results *= 5
    plain = make(name).fit(*samples)
    assert plain.network_.edges == whole.network_.edges
    np.testing.assert_allclose(plain.predict_proba(samples[0]), expected, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": MarginLoss()},
        {"loss": HybridLoss(gamma=None), "early_stopping": 0.25, "patience": 4},
        {"batch_size": None, "start": "random"},
    ],
    ids=["margin", "early stopping", "all samples at once"],
)
@pytest.mark.parametrize("kept_bytes", [250_000_000, 5000])
def test_epochs_are_resumed(options, kept_bytes, samples, tmp_path, monkeypatch):
    """Those in the file are not run again, and all others have the same bits."""
    monkeypatch.setattr(loss_minimizer, "KEPT_BYTES", kept_bytes)
    path = tmp_path / "fit.rounds"
    run = []
    run_epoch = EpochDescent._run_epoch

    def count(descent, rate):
        run.append(rate)
        return run_epoch(descent, rate)

    monkeypatch.setattr(EpochDescent, "_run_epoch", count)

    def make_model(**known):
        learner = LossMinimizer(**{"epochs": 12, **options})
        return BayesNetClassifier("mdl", "tan", learner, random_state=0, **known)

    whole = make_model().fit(*samples)
    rates, trace = run.copy(), whole.trace_["parameters"]
    assert len(trace) == len(rates) > 4
    n_results, n_repeated = 1, []
    while True:
        run.clear()
        model = make_model(checkpoint=path)
        if fit_until(monkeypatch, model, samples, n_results):
            break
        n_before = len(run)
        resumed = make_model(checkpoint=path).fit(*samples)
        assert run[:n_before] == rates[:n_before]
        assert run[n_before:] == rates[len(rates) - (len(run) - n_before) :]
        n_repeated.append(len(run) - len(rates))
        assert (
            resumed.network_.parameters.log_theta == whole.network_.parameters.log_theta
        ).all()
        for one, other in zip(resumed.trace_["parameters"], trace, strict=True):
            assert {**one, "seconds": 0} == {**other, "seconds": 0}
        n_results += 1
    assert len(n_repeated) > 4 if kept_bytes > 5000 else len(n_repeated) > 1
    assert not any(n_repeated)


def test_the_seed_is_kept_if_none_is_given(samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    model = make("TAN-RO-CR-ML", random_state=None, checkpoint=path)
    assert not fit_until(monkeypatch, model, samples, 3)
    with RoundJournal(path, _fingerprint_of(path)) as journal:
        seed = journal.seed
    resumed = model.fit(*samples)
    seeded = make("TAN-RO-CR-ML", random_state=seed).fit(*samples)
    assert resumed.network_.edges == seeded.network_.edges


def _fingerprint_of(path):
    """The fingerprint in the second line of a file."""
    import json

    content = path.read_bytes().partition(b"\n")[2]
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[12 : 12 + length])["fingerprint"]


def test_work_so_far_is_not_done_again(samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    assert not fit_until(monkeypatch, make("TAN-CR-ML", checkpoint=path), samples, 9)
    recalled = []
    close = RoundJournal.close

    def note(journal):
        recalled.append(journal.n_recalled)
        close(journal)

    monkeypatch.setattr(RoundJournal, "close", note)
    make("TAN-CR-ML", checkpoint=path).fit(*samples)
    assert max(recalled) == 9


def test_a_fit_that_ended_early_goes_on(samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    whole = make("TAN-CR-ML").fit(*samples)
    write = RoundJournal._write_record

    def write_and_interrupt(journal, content):
        write(journal, content)
        if journal.n_written == 9:
            raise KeyboardInterrupt  # as Ctrl-C does

    early = make("TAN-CR-ML", checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(RoundJournal, "_write_record", write_and_interrupt)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            early.fit(*samples)
    assert 0 < len(early.trace_["structure"]) < len(whole.trace_["structure"])
    assert path.exists()
    resumed = make("TAN-CR-ML", checkpoint=path).fit(*samples)
    assert resumed.network_.edges == whole.network_.edges
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"class_weight": "balanced"}, "class_weight was None and is 'balanced' now"),
        ({"random_state": 1}, "random_state was 0 and is 1 now"),
    ],
)
def test_other_settings_are_named(change, named, samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    assert not fit_until(monkeypatch, make("NB-ML", checkpoint=path), samples, 1)
    with pytest.raises(InputError, match=named):
        make("NB-ML", checkpoint=path, **change).fit(*samples)
    make("NB-ML", checkpoint=path, n_jobs=2).fit(*samples)  # may change


def test_other_samples_are_refused(samples, tmp_path, monkeypatch):
    path = tmp_path / "fit.rounds"
    X, y = samples
    assert not fit_until(monkeypatch, make("NB-ML", checkpoint=path), samples, 1)
    with pytest.raises(InputError, match="samples differ"):
        make("NB-ML", checkpoint=path).fit(X[::-1], y[::-1])
    assert path.exists()


def test_random_generators_are_refused(samples, tmp_path):
    model = make(
        "NB-ML", random_state=np.random.default_rng(0), checkpoint="fit.rounds"
    )
    with pytest.raises(InputError, match="needs random_state=None or a whole number"):
        model.fit(*samples)


def test_gradient_descent_writes_its_own_checkpoint(samples, tmp_path):
    learner = GumbelTree(epochs=3)
    path = tmp_path / "run.npz"
    model = BayesNetClassifier("mdl", learner, random_state=0, checkpoint=path)
    model.fit(*samples)
    assert model.structure_.checkpoint == path
    assert learner.checkpoint is None
    plain = BayesNetClassifier("mdl", learner, random_state=0).fit(*samples)
    assert (plain.predict_proba(samples[0]) == model.predict_proba(samples[0])).all()


def test_model_files_do_not_name_a_checkpoint(samples, tmp_path):
    model = make("NB-ML", checkpoint=tmp_path / "fit.rounds").fit(*samples)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").checkpoint is None
    assert "fit.rounds" not in (tmp_path / "model.json").read_text()


def test_partial_fit_keeps_no_checkpoint(samples, tmp_path):
    path = tmp_path / "fit.rounds"
    make("NB-ML", checkpoint=path).partial_fit(*samples)
    assert not path.exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["TAN-OMI-CR-ML", "TAN-CMI-RCL", "auto"])
def test_batches_and_partitions_can_be_resumed(name, tmp_path, samples, monkeypatch):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    parts = [frame.iloc[:100], frame.iloc[100:]]
    path = tmp_path / "fit.rounds"
    distributed = dd.from_pandas(frame, npartitions=3, sort=False)
    for given in ((parts, "y"), (distributed.drop(columns="y"), distributed["y"])):
        whole = make(name).fit(*given)
        fit_until(monkeypatch, make(name, checkpoint=path), given, 2)
        resumed = make(name, checkpoint=path).fit(*given)
        assert resumed.network_.edges == whole.network_.edges
        found = resumed.predict_proba(frame[list("abcde")])
        expected = whole.predict_proba(frame[list("abcde")])
        np.testing.assert_allclose(found, expected, atol=1e-7)
        assert not path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["NB+ELR", "TAN-CMI-MM"])
def test_a_killed_command_is_resumed(method, tmp_path, samples):
    X, y = samples
    data, model, path = (tmp_path / n for n in ("d.csv", "m.json", "fit.rounds"))
    lines = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    data.write_text("\n".join(["a,b,c,d,e,y", *(t.replace("nan", "") for t in lines)]))
    command = [sys.executable, "-m", "tanager", "fit", data, "-t", "y", "-q"]
    command += ["-m", method, "-o", model]
    subprocess.run(command, check=True)
    expected = model.read_bytes()
    model.unlink()
    command += ["--checkpoint", path]
    process = subprocess.Popen(command)
    while process.poll() is None and not (path.exists() and path.stat().st_size > 5000):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert path.exists() or model.exists()
    subprocess.run(command, check=True)
    assert model.read_bytes() == expected
    assert sorted(os.listdir(tmp_path)) == ["d.csv", "m.json"]
