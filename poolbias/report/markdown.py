"""A page of the documents as part of the report: headings of a level that fits, no links out."""

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape


def to_html(text: str, prefix: str, level: int = 3) -> Markup:
    """Return Markdown (CommonMark with tables, no HTML) as HTML.

    Links keep their words alone, since the page goes without the network and lies elsewhere. Tables
    are captioned by the heading above them.

    Args:
        text: the Markdown; its first heading is left out.
        prefix: what ids of headings begin with.
        level: that of a heading of the second level (`##`) on the page.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    caption, tables = "", 0
    tokens = _without_title(parser.parse(text))
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) - 2 + level)}"
        if token.type == "heading_open":
            caption, tables = _words(tokens[place + 1]), 0
            token.attrSet("id", f"{prefix}-{_slug(caption)}")
        elif token.type == "inline":
            token.children = [t for t in token.children or () if not t.type.startswith("link_")]
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "table_open":
            tables += 1
            token.meta["caption"] = caption if tables == 1 else f"{caption}, continued ({tables})"
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _table_open(renderer: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    caption = escape(tokens[place].meta["caption"])
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="Table: {caption}">'
        f'<table><caption class="unseen">{caption}</caption>\n'
    )


def _table_close(*_: Any) -> str:
    return "</table></div>\n"


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return list(tokens[3:])
    return list(tokens)


def _words(token: Token) -> str:
    return "".join(child.content for child in token.children or ())


def _slug(words: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in words.lower()).split())
