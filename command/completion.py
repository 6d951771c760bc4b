"""`quetzal completion`: what a shell needs to complete our command lines."""

DESCRIPTION = (
    "Prints a script that lets a shell complete commands and options:\n"
    "  bash  quetzal completion bash > ~/.local/share/bash-completion/completions/quetzal\n"
    "  zsh   quetzal completion zsh > DIR/_quetzal, where DIR is one of zsh's $fpath\n"
    "  fish  quetzal completion fish > ~/.config/fish/completions/quetzal.fish"
)
SHELLS = ("bash", "zsh", "fish")

# What operands are called that name files and directories.
FILES = ("FILE", "FILE.svg", "NET.qnn", "BOOK", "LIST", "ENGINE", "games", "books", "book")
DIRECTORIES = ("DIR", "DIRS")


def add_arguments(parser):
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(options):
    import shtab

    from command.table import build_parser, leaves

    parser = build_parser()
    for _, command in leaves(parser):
        for action in command._actions:
            operand = action.metavar or action.dest
            if operand in FILES or operand in DIRECTORIES:
                action.complete = shtab.FILE if operand in FILES else shtab.DIRECTORY
    print(shtab.complete(parser, options.shell))
