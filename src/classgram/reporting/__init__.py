"""One page that shows what was learned: classes, searches, models and the paper's experiments."""
