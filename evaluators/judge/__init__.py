"""The model client: questions in, validated answers or honest failures out."""
