"""The paper's experiments on any text: what is run, how, and how it is set beside the paper's figures."""
