"""The page: data, script and style in one HTML file that loads nothing and runs only its own script."""

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any

_ASSETS = files("classgram.reporting") / "assets"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page shows its content by a script, which is part of it; allow scripts to see it.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def render_page(title: str, data: dict[str, Any]) -> str:
    """Return the page as HTML; its policy allows its own script and styles by their digests alone."""
    script, style = asset("page.js"), asset("page.css")
    # The chart library adds a style of its own to each chart.
    styles = [style, *json.loads(asset("inline-styles.json"))]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_digest(script)}",
            f"style-src {' '.join(map(_digest, styles))}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return _PAGE.format(
        policy=policy, title=html.escape(title), style=style, script=script, data=embedded(data)
    )


def embedded(data: Any) -> str:
    """Return data as JSON that can stand in a script element: nothing in it can end the element.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # Half of a surrogate pair, which no encoding can write.
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def asset(name: str) -> str:
    """Return a built file that belongs to the page."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a source expression of a content security policy that allows this very text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
