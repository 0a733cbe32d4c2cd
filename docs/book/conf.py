"""Settings of the book for Sphinx. build.py puts the pages in place and starts it."""

project = "tcplab"
author = "the authors of tcplab"
copyright = "the authors of tcplab, MIT or Apache-2.0"
root_doc = "index"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}

myst_heading_anchors = 6  # the anchors of GitHub
myst_enable_extensions = ["attrs_block"]
smartquotes = False
# Fragments of experiment files, and outputs with `...`, are no complete TOML or JSON.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"

html_theme = "furo"
html_title = "tcplab"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
# The summaries of results are fetched page by page, which a browser refuses below file://.
html_show_search_summary = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#175ca8",
        "color-brand-content": "#175ca8",
        "color-brand-visited": "#5b4a9c",
        "font-stack": "system-ui, 'DejaVu Sans', 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",
        "font-stack--monospace": "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7fb2f0",
        "color-brand-content": "#7fb2f0",
        "color-brand-visited": "#b3a4ee",
    },
}
