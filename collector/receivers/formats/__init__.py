"""Forms in which traces are saved, and how each becomes OTLP requests; one module per form, listed in `registry`.

`shape` says what a form is, `plain_span` what every form but OTLP's own converts its spans to; `ids`, `times`,
`attributes` and `fields` hold what several of them share.
"""
