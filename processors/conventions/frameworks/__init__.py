"""Frameworks that write content in shapes of their own, within whatever dialect their spans are in."""
