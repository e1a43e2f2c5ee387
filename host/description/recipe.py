"""The recipe by the names that descriptions use."""

from dataclasses import asdict, fields

from hypercast.host.description.conversion import DescriptionError, checked
from hypercast.reference.models import MODELS
from hypercast.reference.recipe import CROSS_ENTROPY, Recipe

__all__ = ["RECIPE_HINTS", "make_recipe", "recipe_values"]

#: Keys that are called otherwise in ``Recipe``: one number may stand for all layers.
_PLURAL = {"learning_rate": "learning_rates", "bias_learning_rate": "bias_learning_rates",
           "weight_decay": "weight_decays"}
_SINGULAR = {name: key for key, name in _PLURAL.items()}
#: Keys of a recipe, and their types: the fields of ``Recipe``, but for ``element_width``, which is
#: the device's, and ``loss``, which labels ask for.
RECIPE_HINTS = {_SINGULAR.get(field.name, field.name): field.type for field in fields(Recipe)
                if field.name not in ("element_width", "loss")}


def make_recipe(values, model, config, loss=CROSS_ENTROPY):
    """A ``Recipe``.

    Parameters
    ----------
    values : dict
        By key. Edge weights are normalised as the model is defined with, if not given.
    model : Model
        What is trained.
    config : Config
        The chip's configuration.
    loss : str
        The loss.

    Raises
    ------
    DescriptionError
        If a key is unknown, or a value of another type or out of range.
    """
    given = {"normalisation": MODELS[model.name], **checked("recipe", values, RECIPE_HINTS)}
    try:
        return Recipe(element_width=config.element_width, loss=loss,
                      **{_PLURAL.get(key, key): value for key, value in given.items()})
    except ValueError as error:
        raise DescriptionError(f"[recipe] {error}", "recipe") from error


def recipe_values(recipe):
    """What ``make_recipe`` makes ``recipe`` from."""
    return {key: value for name, value in asdict(recipe).items()
            if (key := _SINGULAR.get(name, name)) in RECIPE_HINTS}
