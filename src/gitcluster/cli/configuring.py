"""A run that can be repeated: ``--save-config`` writes what was asked for, ``--config`` asks for it again."""

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import click

from gitcluster import __version__
from gitcluster._support.files import write_aside

NOT_SAVED = {"config", "save_config", "as_json", "quiet"}


def load_config(ctx: click.Context, _: Any, path: str | None) -> str | None:
    """Take the values of a file for options that are not on the command line."""
    if path is None:
        return None
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise click.BadParameter(f"there is no file {path}. --save-config writes one.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} is not a TOML file: {error}.") from None
    known = {name_of(parameter): parameter for parameter in ctx.command.params}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise click.BadParameter(f"{path} has {unknown[0]!r}, which is no option of {ctx.command.name}.")
    ctx.default_map = {known[name].name or name: _as_typed(value) for name, value in given.items()}
    return path


def name_of(parameter: click.Parameter) -> str:
    """The name of an option as it is written, without dashes in front."""
    long = [option for option in parameter.opts if option.startswith("--")]
    return (long[0] if long else parameter.opts[0]).lstrip("-")


def _as_typed(value: Any) -> Any:
    """A value as it would be typed."""
    if isinstance(value, list):
        return [_as_typed(item) for item in value]
    return value if isinstance(value, (bool, str)) else str(value)


def save_config(ctx: click.Context, path: str) -> None:
    """Write all options that are not as they are by default."""
    lines = [f"# gitcluster {ctx.command.name}, version {__version__}: repeat it with --config {Path(path).name}"]
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        usual = value is None or value is False or value == () or value == parameter.default
        if usual or parameter.name in NOT_SAVED:
            continue
        lines.append(f"{name_of(parameter)} = {_written(parameter, value)}")
    with write_aside(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def command_of(ctx: click.Context) -> str:
    """The command that is running, as it could be typed."""
    words = ["gitcluster", str(ctx.command.name)]
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if value is None or value is False or value == () or value == parameter.default:
            continue
        values = value if isinstance(value, tuple) else [value]
        for one in values:
            text = [] if one is True else [":".join(f"{part:g}" for part in one) if isinstance(one, list) else str(one)]
            words += text if isinstance(parameter, click.Argument) else [f"--{name_of(parameter)}", *text]
    return shlex.join(words)


def _written(parameter: click.Parameter, value: Any) -> str:
    """A value in TOML, whose texts are those of JSON."""
    if parameter.multiple or isinstance(value, bool):
        return json.dumps(value, ensure_ascii=False)
    text = ":".join(f"{part:g}" for part in value) if isinstance(value, list) else str(value)
    return json.dumps(text.removesuffix(".0") if parameter.name == "memory" else text, ensure_ascii=False)


config_options = (
    click.option("--config", metavar="FILE.toml", is_eager=True, expose_value=False, callback=load_config,
                 help="Take options from a file that --save-config wrote; those on the command line go before."),
    click.option("--save-config", metavar="FILE.toml", help="Write all options to a file, so that the run can be "
                 "repeated with --config."),
)  # fmt: skip
