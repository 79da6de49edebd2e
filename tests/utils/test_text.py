from tanager.utils.text import one_line, pluralise, shorten, size_text


def test_numbers_have_their_noun():
    assert pluralise(1, "row") == "1 row"
    assert pluralise(1500, "row") == "1,500 rows"
    assert pluralise(2, "class") == "2 classes"
    assert size_text(8, 1, 2, n_unlabelled=2) == (
        "8 samples (2 unlabelled), 1 feature, 2 classes"
    )


def test_texts_fit_on_a_line():
    assert one_line("a\nb  c") == "a b c"
    assert shorten("a long text", 8) == "a lon..."
    assert shorten("short", 8) == "short"
