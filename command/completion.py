"""`quetzal completion`: what a shell needs to complete our command lines."""

DESCRIPTION = (
    "Prints a script that lets a shell complete commands and options:\n"
    "  bash  quetzal completion bash > ~/.local/share/bash-completion/completions/quetzal\n"
    "  zsh   quetzal completion zsh > DIR/_quetzal, where DIR is one of zsh's $fpath\n"
    "  fish  quetzal completion fish > ~/.config/fish/completions/quetzal.fish"
)
SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser):
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(options):
    import shtab

    from command.table import build_parser

    print(shtab.complete(build_parser(), options.shell))
