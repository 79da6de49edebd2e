from tanager.utils.text import escape_controls, one_line, pluralise, shorten, size_text


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


def test_control_characters_are_escaped_and_line_breaks_kept():
    text = "größe, 東京\n"
    assert escape_controls(text) == text
    assert escape_controls("\x1b]0;t\x07\u202ea\u2066\ud800\t\x9b") == (
        r"\x1b]0;t\x07\u202ea\u2066\ud800\t\x9b"
    )
