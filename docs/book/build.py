"""Builds the book: `make book`, which is `python docs/book/build.py OUT` in its environment.

1. Copies the pages of chapters.toml, and whatever they link to, into OUT-src, with the folders of the repository. A file that is
   no page (an experiment, a script) becomes one, so that its link works without a network.
2. Runs Sphinx. Its warnings are errors: a link or anchor of a page that leads nowhere stops the build.
3. Reads the HTML: every link, anchor and picture exists, every page is reached from the first one, nothing is loaded from a network.
"""

import html
import html.parser
import os
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "docs/book"
CHAPTERS = "docs/book/chapters.toml"
PICTURES = {".png", ".svg", ".jpg", ".gif"}
LEXERS = {".toml": "toml", ".py": "python", ".json": "json", ".sh": "bash", ".rs": "rust", ".lua": "lua", ".c": "c"}
LARGEST = 200_000  # bytes of a file that becomes a page; a larger or binary one is offered as a download
LINK = re.compile(r"(\]\(<?)([^)>\s]+)(>?(?:\s+\"[^\"]*\")?\))")
REFERENCE = re.compile(r"^(\[[^\]]+\]:\s+)(\S+)(.*)$")


def fail(errors):
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    sys.exit(1)


def chapters():
    """The chapters, without pages that are still to come."""
    table = tomllib.loads((ROOT / CHAPTERS).read_text())
    coming, errors, seen = set(table.get("coming", [])), [], {}
    for chapter in table["chapter"]:
        for page in chapter["pages"]:
            if page in seen:
                errors.append(f"{CHAPTERS}: {page} is in {seen[page]!r} and in {chapter['title']!r}: keep one")
            seen[page] = chapter["title"]
            if not (ROOT / page).is_file() and page not in coming:
                errors.append(f"{CHAPTERS}: {page} does not exist: write it, or take it out of the chapter {chapter['title']!r}")
        chapter["pages"] = [page for page in chapter["pages"] if (ROOT / page).is_file()]
    for path in sorted((ROOT / "docs").glob("*.md")):
        if f"docs/{path.name}" not in seen:
            errors.append(f"docs/{path.name} is in no chapter: add it to a chapter of {CHAPTERS}")
    if errors:
        fail(errors)
    return [chapter for chapter in table["chapter"] if chapter["pages"]]


def outside_code(text):
    """The lines of a page, each with whether it stands outside fenced code."""
    fence = None
    for line in text.split("\n"):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence is None and mark:
            fence = mark.group(1)
            yield line, False
        elif fence is not None:
            if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = None
            yield line, False
        else:
            yield line, True


class Stage:
    """The pages, copied with their links mended."""

    def __init__(self, folder):
        self.folder, self.errors, self.waiting, self.done = folder, [], [], set()

    def add(self, page):
        if page not in self.done:
            self.done.add(page)
            self.waiting.append(page)

    def target(self, page, number, link):
        """What stands for a link to a file of the repository."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path:
            return link
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
        file = ROOT / path
        if path.startswith("../") or not file.exists():
            self.errors.append(f"{page}:{number}: link to {path}, which does not exist: mend the link or add the file")
            return link
        if file.is_dir():
            readme = f"{path}/README.md"
            if not (ROOT / readme).is_file():
                self.errors.append(f"{page}:{number}: link to the folder {path}, which has no README.md: link to a file in it")
                return link
            self.add(readme)
            return parts.path.rstrip("/") + "/README.md"
        if file.suffix == ".md":
            self.add(path)
            return link
        if file.suffix in PICTURES or file.stat().st_size > LARGEST or b"\0" in file.read_bytes()[:4096] or file.suffix == ".ipynb":
            self.copy(path)
            return link
        self.listing(path)
        return f"{parts.path}.md"

    def copy(self, path):
        to = self.folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, to)

    def listing(self, path):
        """A page that shows a file."""
        text = (ROOT / path).read_text(errors="replace")
        ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        lexer = LEXERS.get(Path(path).suffix, "text")
        self.write(f"{path}.md", f"---\norphan: true\nnosearch: true\n---\n# {Path(path).name}\n\n`{path}` of the repository.\n\n{ticks}{lexer}\n{text.rstrip()}\n{ticks}\n")

    def write(self, path, text):
        to = self.folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)

    def page(self, page, orphan):
        lines = []
        for number, (line, prose) in enumerate(outside_code((ROOT / page).read_text()), 1):
            if prose:
                line = LINK.sub(lambda m, n=number: m[1] + self.target(page, n, m[2]) + m[3], line)
                line = REFERENCE.sub(lambda m, n=number: m[1] + self.target(page, n, m[2]) + m[3], line)
            lines.append(line)
        self.write(page, ("---\norphan: true\n---\n" if orphan else "") + "\n".join(lines))

    def root(self, table):
        cards, trees = [], []
        for chapter in table:
            first = posixpath.splitext(chapter["pages"][0])[0]
            cards.append(
                f'<a class="card" href="{first}.html"><strong>{html.escape(chapter["title"])}</strong>{html.escape(chapter["about"])}</a>'
            )
            pages = "\n".join(posixpath.splitext(page)[0] for page in chapter["pages"])
            trees.append(f"```{{toctree}}\n:hidden:\n:caption: {chapter['title']}\n:maxdepth: 1\n\n{pages}\n```\n")
        text = (HERE / "index.md").read_text().replace("<!-- cards -->", '<div class="cards">\n' + "\n".join(cards) + "\n</div>")
        # It stands in docs/book, and its page at the top.
        text = text.replace("](../", "](docs/")
        lines = [LINK.sub(lambda m: m[1] + self.target("index.md", 0, m[2]) + m[3], line) for line in text.split("\n")]
        self.write("index.md", "\n".join(lines) + "\n" + "\n".join(trees))

    def all(self, table):
        listed = {page for chapter in table for page in chapter["pages"]}
        for page in sorted(listed):
            self.add(page)
        while self.waiting:
            page = self.waiting.pop()
            self.page(page, page not in listed)
        self.root(table)
        if self.errors:
            fail(self.errors)


class Read(html.parser.HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if attrs.get("id"):
            self.anchors.add(attrs["id"])
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag in ("img", "script", "iframe", "source") and attrs.get("src"):
            self.loaded.append(attrs["src"])
        if tag == "link" and attrs.get("href") and attrs.get("rel") != "canonical":
            self.loaded.append(attrs["href"])


def check(out):
    """Reads the book as a browser would that has no network."""
    pages, errors = {}, []
    for file in sorted(out.rglob("*.html")):
        read = Read()
        read.feed(file.read_text())
        pages[file.relative_to(out).as_posix()] = read
    for file in out.rglob("*.css"):
        for url in re.findall(r"(?:@import\s+|url\()[\"']?(https?:)?//", file.read_text()):
            errors.append(f"{file.relative_to(out)}: loads {url} from a network: copy the file into docs/book/static")
    reached, waiting, links = {"index.html"}, ["index.html"], 0
    while waiting:
        name = waiting.pop()
        for link, loaded in [(x, False) for x in pages[name].links] + [(x, True) for x in pages[name].loaded]:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto") or (parts.scheme and not loaded):
                continue
            if parts.scheme or parts.netloc:
                errors.append(f"{name}: loads {link} from a network: copy the file into docs/book/static")
                continue
            links += 1
            to = name if not parts.path else posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
            if not (out / to).is_file():
                errors.append(f"{name}: {link} leads nowhere: mend the link in the page's Markdown")
            elif to in pages:
                fragment = unquote(parts.fragment)
                if fragment and fragment not in pages[to].anchors and not loaded:
                    errors.append(f"{name}: {link}: {to} has no anchor {fragment}: name a heading of that page")
                if to not in reached:
                    reached.add(to)
                    waiting.append(to)
    for name in sorted(set(pages) - reached - {"search.html", "genindex.html"}):
        errors.append(f"{name} is reached from no page: link to it, or add it to {CHAPTERS}")
    if errors:
        fail(errors)
    return len(reached), links


def main():
    out = Path(sys.argv[1])
    stage = out.with_name(out.name + "-src")
    # Pages that are as they were keep their time, so that Sphinx reads the others only.
    before = {p.relative_to(stage): (p.read_bytes(), p.stat()) for p in stage.rglob("*") if p.is_file()} if stage.is_dir() else {}
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    table = chapters()
    Stage(stage).all(table)
    for path, (data, stat) in before.items():
        if (stage / path).is_file() and (stage / path).read_bytes() == data:
            os.utime(stage / path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    shutil.rmtree(out, ignore_errors=True)
    trees = out.with_name(out.name + "-trees")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-c", HERE, "-d", trees, stage, out]
    done = subprocess.run(command)
    if done.returncode:
        print(f"error: the book has the warnings above. A path below {stage} is that of the same page in the repository: mend it there.", file=sys.stderr)
        sys.exit(1)
    pages, links = check(out)
    print(f"the book has {pages} pages and {links} links inside it: {out}/index.html")


main()
