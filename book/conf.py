"""Sphinx's configuration of the book (make book): every page of the workbook, with the page of explore embedded in each lesson.

The source folder is the root of the workbook. html_extra_path, which book/build sets, has the pages' pictures, the pages of explore and the
flash cards; they keep their paths in the site, so that relative links work there as they do in the repository.
"""
import re
from pathlib import Path

from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parent.parent
LESSON = re.compile(r"lessons/([0-9]+_\w+)/README$")
# The command that makes a page, and the page: it is embedded where a page of the workbook first names the command.
EXPLORE = re.compile(r"make (?:lesson|solution)-[0-9]+ .*\bexplore\b"), "explore/solution-%s-*.html"
FLASH_CARDS = re.compile("make flashcards"), "flashcards.html"

project = "Attention kernels"
copyright = ""
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "**/*.md"]
exclude_patterns = [".*", "build", "toolchain", "post/outline.md"]
templates_path = ["templates"]
nitpicky = True

myst_enable_extensions = []
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_title = project
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_additional_pages = {"index": "index.html"}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_last_updated_fmt = None
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def toctree(caption, documents):
    return "\n\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (caption, "\n".join("/" + d for d in documents))


def contents(documents):
    """The navigation: the pages about learning, the lessons in order, and the rest. Notes belong to their lesson."""
    documents = sorted(documents - {root_doc} - {d for d in documents if d.endswith("/NOTES")}, key=lambda d: (not d.endswith("README"), d))
    lessons = [d for d in documents if LESSON.match(d)]
    learning = [d for d in documents if d.startswith("lessons/") and d not in lessons]
    rest = [d for d in documents if d not in lessons + learning]
    return toctree("Learning", learning) + toctree("Lessons", lessons) + toctree("Behind the lessons", rest)


def frame(source, page):
    title = re.search("<title>(.*?)</title>", page.read_text(encoding="utf-8"), re.S)[1].strip() + " (%s)" % page.stem
    return ('<figure class="embedded">\n<iframe src="%s" title="%s" loading="lazy"></iframe>\n'
            '<figcaption><a href="%s">%s</a>, on a page of its own</figcaption>\n</figure>' % (source, title, source, title))


def embed(text, command, up, extra, pattern):
    """Inserts pages after the first block of text that names their command, or at the end."""
    pages = sorted(extra.glob(pattern))
    if not pages:
        raise ExtensionError("there is no %s in %s" % (pattern, extra))
    blocks = text.split("\n\n")
    place = next((i for i, block in enumerate(blocks) if command.search(block)), len(blocks)) + 1
    # Not between the paragraphs of a list's item.
    while place < len(blocks) and blocks[place].startswith("  "):
        place += 1
    blocks.insert(place, "\n\n".join(frame(up + page.relative_to(extra).as_posix(), page) for page in pages))
    return "\n\n".join(blocks)


def read(app, docname, source):
    folder = (ROOT / docname).parent
    # A site has no page of a folder or of a template, so only the name remains of such a link.
    pages = {(ROOT / d).with_suffix(".md") for d in app.env.found_docs}

    def linked(link):
        target = (folder / link[2]).resolve()
        return link[1] if target.is_dir() or target.suffix == ".md" and target.exists() and target not in pages else link[0]

    text = re.sub(r"\[([^\]]+)\]\(([^)#:]+)\)", linked, source[0])
    lesson = LESSON.match(docname)
    extra = Path(app.config.html_extra_path[0])
    up = "../" * docname.count("/")
    if lesson:
        text = embed(text, EXPLORE[0], up, extra, EXPLORE[1] % lesson[1])
        notes = [d for d in ("lessons/%s/NOTES" % lesson[1], "solutions/%s/NOTES" % lesson[1]) if d in app.env.found_docs]
        text += toctree("Notes", notes) if notes else ""
    if docname == "lessons/flash-cards":
        text = embed(text, FLASH_CARDS[0], up, extra, FLASH_CARDS[1])
    if docname == root_doc:
        text += contents(set(app.env.found_docs))
    source[0] = text


def setup(app):
    app.connect("source-read", read)
