"""From a transcript to what is judged, each case with the place its verdict goes to."""
