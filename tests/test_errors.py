import pickle

from tanager.errors import MAX_MESSAGE, FileFormatError, InputError, TanagerError


def test_long_messages_keep_their_beginning_and_end():
    message = str(InputError("Unknown state " + "x" * 10_000 + "; choose another."))
    assert len(message) == MAX_MESSAGE
    assert message.startswith("Unknown state xx")
    assert message.endswith("x; choose another.")
    assert " ... " in message


def test_short_messages_and_pickles_are_as_given():
    error = FileFormatError("x" * MAX_MESSAGE)
    assert str(error) == "x" * MAX_MESSAGE
    assert str(pickle.loads(pickle.dumps(InputError("too long " * 999)))) == str(
        InputError("too long " * 999)
    )
    assert str(TanagerError()) == ""
