"""Pages in one file: whatever their data says, they keep their form."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from web.page import assemble

MARKS = [
    "/*SCRIPT*/",
    "/*STYLE*/",
    "/*DATA*/",
    "<!--TITLE-->",
    "{script}",
    "{data}",
    "{0}",
    "%s",
    "$data",
    "\\1",
    "\\g<0>",
]
BREAKERS = [
    "</script>",
    "</SCRIPT ><b>",
    "</title><script>",
    "<!--",
    "<!--<script>",
    "-->",
    "]]>",
    "&lt;&amp;&#60;",
    "\u2028\u2029",
    "\0\x1b[2J",
    "\ud800",
    "'\"`\\",
]


class Reader(HTMLParser):
    """The elements of a page with their texts, as far as this test asks."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.is_inside = False
        self.metas = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))
        self.is_inside = True
        if tag == "meta" and "http-equiv" in dict(attributes):
            self.metas[dict(attributes)["http-equiv"]] = dict(attributes)["content"]

    def handle_endtag(self, tag):
        self.is_inside = False

    def handle_data(self, data):
        if self.is_inside:
            self.elements[-1][2].append(data)

    def texts(self, tag):
        return ["".join(texts) for name, _, texts in self.elements if name == tag]


def shape(text):
    """Everything of a page but its data and its title."""
    text = re.sub(r'(<script id="data" type="application/json">).*?(</script>)', r"\1\2", text, flags=re.DOTALL)
    return re.sub(r"<title>.*?</title>", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("nasty", [*MARKS, *BREAKERS])
def test_no_text_in_the_data_breaks_the_page(nasty):
    data = {"name": nasty, nasty: [nasty, {"inner": nasty}]}
    plain = assemble("plain", "<p>body</p>", "p { }", "run();", {"name": "plain"})
    text = assemble(nasty, "<p>body</p>", "p { }", "run();", data)
    text.encode()
    assert shape(text) == shape(plain)
    reader = Reader(text)
    _, data_text, script = reader.texts("script")
    assert json.loads(data_text) == data
    assert script.endswith("run();")
    assert [tag for tag, _, _ in reader.elements] == [tag for tag, _, _ in Reader(plain).elements]
    # html.parser resolves references in a title; a lone surrogate cannot be written as UTF-8.
    assert reader.texts("title") == [nasty.replace("\ud800", "?")]


def test_the_policy_allows_exactly_the_style_and_script_of_the_page():
    reader = Reader(assemble("title", "<p>body</p>", "p { }", "run();", {}))
    policy = dict(part.strip().split(" ", 1) for part in reader.metas["Content-Security-Policy"].split(";"))
    theme, _, script = reader.texts("script")
    for name, texts in (("style-src", reader.texts("style")), ("script-src", [theme, script])):
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert policy[name] == " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy["default-src"] == "'none'"


def test_numbers_that_json_does_not_have_are_refused():
    """A browser would not read them, and the page would stay empty without a word."""
    with pytest.raises(ValueError):
        assemble("title", "", "", "", {"elo": float("inf")})
