"""Secrets are told from texts about them, and never shown."""

import json
from pathlib import Path

import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.core.secrets import check_no_secret, secret_in
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.judges.endpoint import ChatJudge

SECRET = "S3cr3tS3cr3tS3cr3tS3cr3t"
CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8").replace("SECRET", SECRET))
AT = {"base_url": "http://h/v1", "model": "m"}


@pytest.mark.parametrize("text", CASES["secrets"])
def test_secrets_are_found_in_files(text):
    assert secret_in(f'{{"doc": "{text}"}}') and SECRET not in secret_in(text)


@pytest.mark.parametrize("text", CASES["texts_about_secrets_are_none"])
def test_texts_about_secrets_are_none(text):
    assert secret_in(text) == ""


@pytest.mark.parametrize(("spec", "place"), CASES["judges_with_a_secret"])
def test_a_judge_with_a_secret_is_refused_before_the_run(spec, place):
    with pytest.raises(InputError) as caught:
        check_judge(spec)
    assert str(caught.value).startswith(f"{place}: got ") and SECRET not in str(caught.value)
    assert "the name of an environment variable" in str(caught.value)


def test_an_endpoint_in_python_takes_no_password_in_its_url():
    with pytest.raises(InputError) as caught:
        ChatJudge(f"http://u:{SECRET}@h/v1", "m")
    assert SECRET not in str(caught.value)


def test_plain_options_pass():
    check_no_secret(CASES["plain_options"], "judge", headers=True)
