"""Back-off models over words (section 5: the yardstick)."""
