"""The command in docs/tuning.md prints what the page says."""

import pytest

from tests.docs.pages import read_page
from tests.docs.test_command_line import masked, without_jit

SESSIONS = [
    session for section in read_page("tuning.md") for session in section.sessions
]


@pytest.mark.slow
@without_jit
@pytest.mark.usefixtures("page_files")
@pytest.mark.parametrize(("command", "printed"), SESSIONS)
def test_sessions(typed, command, printed):
    result = typed(command)
    assert masked(result.output) == masked(printed)
    assert result.exit_code == 0
