"""The site that `./dev docs` makes: it is whole, and its search finds what people look for."""

import json

import pytest

from tools import docs

# What somebody types, and a page that has to be among those found.
LOOKED_FOR = {"RAFT_NO_QUORUM": "findings/RAFT_NO_QUORUM.html", "supervise": "probes/runit.html", "masakari": "guests.html"}


@pytest.mark.slow
def test_the_site_is_whole_and_its_search_knows_each_page(tmp_path):
    site = docs.build(tmp_path / "docs")
    assert "Wardmote" in (site / "index.html").read_text(encoding="utf-8")
    found = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    for words, page in LOOKED_FOR.items():
        assert any(one["location"].startswith(page) and words.lower() in (one["title"] + one["text"]).lower() for one in found), (words, page)
    pages = {path.relative_to(docs.ROOT / "docs").with_suffix(".html") for path in (docs.ROOT / "docs").rglob("*.md") if path.name != "README.md"}
    assert all((site / page).exists() for page in pages)
    # Nothing is fetched from elsewhere.
    text = (site / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in text and 'rel="stylesheet" href="http' not in text
