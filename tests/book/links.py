#!/usr/bin/env python3
"""links.py SITE: prints each link of a page that leads nowhere, that leaves the site by an absolute path, or that loads from a network; then
"links<TAB>COUNT". Links to other sites are not followed."""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.append((tag, value))
            if name == "srcset":
                self.links += [(tag, part.split()[0]) for part in value.split(",")]


def wrong(tag, link, path, pages):
    parts = urlsplit(link)
    if parts.scheme in ("http", "https") or parts.netloc:
        # rel="canonical" and the like are of <link>; what they load is not.
        return "" if tag == "a" else "loads from a network"
    if parts.scheme in ("mailto", "data"):
        return ""
    if parts.scheme or link.startswith("/"):
        return "is absolute"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads nowhere"
    fragment = unquote(parts.fragment)
    return "has no such part" if fragment and target in pages and fragment not in pages[target].ids else ""


def main():
    pages = {path.resolve(): Page(path) for path in sorted(Path(sys.argv[1]).rglob("*.html"))}
    count = 0
    for path, page in pages.items():
        for tag, link in page.links:
            count += 1
            reason = wrong(tag, link, path, pages)
            if reason:
                print("\t".join((str(path.relative_to(Path(sys.argv[1]).resolve())), link, reason)))
    print("links\t%d" % count)


main()
