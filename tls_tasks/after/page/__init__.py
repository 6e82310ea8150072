"""``tls-tasks page``: one self-contained page about scored runs.

``views`` turns the explained score of a document into plain data, ``page`` puts the data, the style and the script into
one HTML file, and ``page.js`` draws it in the browser. Model text is data throughout: it travels as JSON, and the page
only ever sets it as the text of an element.
"""
