"""How a search went, drawn with matplotlib."""

from importlib.util import find_spec
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from classgram.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_history(history: dict[str, Any]) -> "Figure":
    """Return a figure of F and of moved words by time; with the curve of ``auto`` where there is one."""
    if find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib; pip install 'classgram[plot]'")
    from matplotlib.figure import Figure

    sweeps, curve = history["sweeps"], history.get("curve", [])
    seconds = list(accumulate(sweep["seconds"] for sweep in sweeps))
    drawn = Figure(figsize=(4.5 * (3 if curve else 2), 3.5), layout="constrained")
    axes = drawn.subplots(1, 3 if curve else 2)
    axes[0].plot(seconds, [sweep["F"] for sweep in sweeps], marker="o")
    axes[0].set(title=f"F ({history['criterion']})", xlabel="seconds")
    axes[1].plot(seconds, [sweep["moved"] for sweep in sweeps], marker="o")
    axes[1].set(title="moved in each sweep", xlabel="seconds", yscale="symlog")
    if curve:
        axes[2].plot([point["classes"] for point in curve], [point["F"] for point in curve], marker="o")
        axes[2].axvline(history["classes"], linestyle="--")
        axes[2].set(title="leaving-one-out F", xlabel="number of classes", xscale="log")
    return drawn
