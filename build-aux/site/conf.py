# The website: `make html` renders the pages of doc/ with Sphinx, MyST and the theme Furo, as Debian has them. doc/index.md is the
# navigation. Every warning is an error there, so a link or an anchor that leads nowhere ends the build.
import pathlib
import re

from pygments.lexers import TextLexer

project = 'authz'
html_title = 'authz'
copyright = 'the authors of authz'

extensions = ['myst_parser']
root_doc = 'index'
# The manual page and README are not pages of the site.
include_patterns = ['**.md']

# Headings of these levels have anchors, named as forges name them.
myst_heading_anchors = 4
# doc/design cites headings by their level; a page may begin below the second one.
suppress_warnings = ['myst.header']
highlight_language = 'none'
# Options are written with two hyphens.
smartquotes = False

html_theme = 'furo'
# The search is a script with its index in a script, so it works from a file as from a server.
html_show_sourcelink = False
html_copy_source = False
html_use_index = False
pygments_style = 'default'
pygments_dark_style = 'monokai'


# The Furo of Debian 12 and 13 is not bundled: its style imports a file by the path of Debian's web servers, has no dark colours for those who
# ask for them in the browser alone, and its script imports another as a module, which a page from a file cannot. Put the parts together.
NORMALIZE = '/javascript/normalize.css/normalize.css'
DARK = '@media not print {'
ASKED = r'prefers-color-scheme: *dark\) *\{[^{]*\{[^}]*--color-background-primary:'
# Wider than Furo has it, and long words of tables may be cut: else the last column cannot be seen. Where there is room, the names in the
# first of three columns stay whole, and those in the first of more get a part of it.
TABLES = (
    '.content { width: 52em } table.docutils td { overflow-wrap: anywhere; vertical-align: top }'
    '@media (min-width: 63em) { table.docutils td { min-width: 5em }'
    ' table.docutils td:first-child:nth-last-child(-n+3) { overflow-wrap: normal }'
    ' table.docutils td:first-child:nth-last-child(n+4) { min-width: 11em } }'
)
IMPORT = r'import .*Gumshoe from "./gumshoe-patched.js";'


def bundle_style(style):
    text = style.read_text()
    if NORMALIZE in text:
        style.with_name('normalize.css').write_text(pathlib.Path('/usr/share' + NORMALIZE).read_text())
        text = text.replace(NORMALIZE, 'normalize.css')
    if DARK in text and not re.search(ASKED, text):
        colours = text.split(DARK, 1)[1].split('} }', 1)[0] + '} }'
        asked = colours.replace('[data-theme="dark"]', '[data-theme="auto"]')
        text = text + '@media screen and (prefers-color-scheme: dark) {' + asked
    style.write_text(text if TABLES in text else text + TABLES)


def bundle_script(script):
    text = script.read_text()
    if re.search(IMPORT, text):
        script.write_text(script.with_name('gumshoe-patched.js').read_text() + re.sub(IMPORT, '', text))


def bundle(app, exception):
    if exception is None:
        static = pathlib.Path(app.outdir, '_static')
        bundle_style(static / 'styles/furo.css')
        bundle_script(static / 'scripts/furo.js')


# Sphinx 5 loads these for extensions of older ones. Nothing here uses them, and they are three quarters of a page.
UNUSED = ('_static/jquery.js', '_static/underscore.js', '_static/_sphinx_javascript_frameworks_compat.js')


def plain_scripts(app, page, template, context, doctree):
    context['script_files'] = [script for script in context['script_files'] if script not in UNUSED]
    for script in context['script_files']:
        if getattr(script, 'attributes', {}).get('type') == 'module':
            del script.attributes['type']


def setup(app):
    # The Pygments of Debian 12 does not know Rego.
    app.add_lexer('rego', TextLexer)
    app.connect('html-page-context', plain_scripts)
    app.connect('build-finished', bundle)
