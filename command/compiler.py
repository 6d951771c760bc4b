"""`quetzal compiler`: version and build."""

import json

from command.arguments import add_json
from uci_engine.build import describe, facts


def add_arguments(parser):
    add_json(parser)


def run(options):
    print(json.dumps(facts()) if options.json else describe())
