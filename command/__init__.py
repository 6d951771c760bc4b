"""What can I type? One table of commands, one file per command. Nothing below imports this room."""
