"""The way in for commands that ask a running sidecar something, or tell it to read its configuration again."""
