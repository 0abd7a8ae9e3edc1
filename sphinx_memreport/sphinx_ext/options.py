"""The settings of ``conf.py``: declared in ``config.Settings``, registered from there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sphinx_memreport.config import InvalidConfig, Settings, SiteConfig, check_settings, load_config

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

# What has to be read or written again when a setting changes; problems are always said anew.
_REBUILD: dict[str, Literal["", "html", "env"]] = {
    "autolink": "env",
    "source_pages": "html",
    "allow_code": "env",
}


def setup_options(app: Sphinx) -> None:
    """Register every setting under ``memreport_``, with its help."""
    for name, field in Settings.model_fields.items():
        default = {} if name in ("severity", "report") else field.get_default()
        types: Any = (dict,) if isinstance(default, dict) else (type(default),)
        app.add_config_value(
            f"memreport_{name}",
            default,
            _REBUILD.get(name, ""),
            types=types,
            description=field.description or "",
        )


def settings_of(config: Config, confdir: Path) -> Settings:
    """The settings, validated.

    :raises InvalidConfig: with everything that is wrong.
    """
    values = {name: getattr(config, f"memreport_{name}") for name in Settings.model_fields}
    problems = check_settings(values)
    if problems:
        path = str(confdir / "conf.py")
        raise InvalidConfig(problem.model_copy(update={"path": path}) for problem in problems)
    return Settings.model_validate(values)


def site_config_of(app: Sphinx, settings: Settings) -> SiteConfig:
    """The configuration file, validated; without reports when there is no file of that name.

    :raises InvalidConfig: with everything that is wrong, or when ``memreport_config`` names a file
        that does not exist.
    """
    path = Path(app.confdir) / settings.config
    named = settings.config != Settings.model_fields["config"].get_default()
    if not named and not path.exists():
        return SiteConfig(path=path)
    return load_config(path)
