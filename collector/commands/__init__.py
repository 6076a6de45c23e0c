"""One module per command of `spanjudge`; `collector.cli` puts them together."""
