"""The parameters of a stage as its script sees them: what is missing or cannot be is named."""

from typing import Any

from poolbias.errors import ConfigError
from poolbias.files import hash_of

# Parameters of these names mean the same in every stage; others than these would be taken as none.
KNOWN = {"device": ("cpu", "cuda"), "precision": ("bf16", "float32")}


class Parameters(dict[str, Any]):
    """A stage's parameters; a missing one is a mistake in the JSON file, told by its dotted key."""

    def __init__(self, values: dict[str, Any], within: str = "") -> None:
        super().__init__(values)
        self.within = within
        for name, value in values.items():
            if isinstance(value, dict):
                self[name] = Parameters(value, f"{within}{name}.")
            elif not within and name in KNOWN and value not in KNOWN[name]:
                known = ", ".join(KNOWN[name])
                raise ConfigError(f"--parameters: {name} is {value!r}, need {known}; correct it.")

    def __missing__(self, name: str) -> Any:
        raise ConfigError(
            f"--parameters: the key {self.within + name!r} is missing (found: "
            f"{', '.join(self) or 'none'}); add it, or start from the JSON file beside the log of "
            "an earlier run."
        )


def parameters_of(given: Any, options: dict[str, Any]) -> Parameters:
    """Return a stage's parameters from what its JSON file holds, without `code`.

    Args:
        given: the JSON value.
        options: parameters of the command line, which win.

    Raises:
        ConfigError: if that is no object, or a device or precision that does not exist.
    """
    if not isinstance(given, dict):
        raise ConfigError(f"--parameters: found {given!r}, need a JSON object; correct it.")
    return Parameters({name: value for name, value in given.items() if name != "code"} | options)


def code(fingerprint: str, choices: list[str], parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what the rules add to a stage's parameters as `code`.

    It tells what runs (the fingerprint, and the modules chosen by name), and with which parameters,
    so that a file that was changed by hand is known as such.
    """
    return {"fingerprint": fingerprint, "choices": choices, "parameters": hash_of(parameters, 16)}


def by_hand(given: dict[str, Any]) -> bool:
    """Return whether parameters are others than those that a rule wrote."""
    told = given.get("code")
    rest = {name: value for name, value in given.items() if name != "code"}
    return not isinstance(told, dict) or told.get("parameters") != hash_of(rest, 16)
