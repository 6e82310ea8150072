"""``tls-tasks report``: one self-contained page about scored runs.

``views`` turns one document's explained score into plain data, ``page`` puts the data, the style and the script into
one HTML file, ``page.js`` draws it in the browser. Model text is data from beginning to end: it travels as JSON, and
the script only ever sets it as the text of an element.
"""
