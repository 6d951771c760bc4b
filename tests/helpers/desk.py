"""The hands of a person at a page with a board: for tests of pages in a browser."""


class Hands:
    """`window` is the browser, whose page has the scripts of `quetzal play`."""

    def __init__(self, window):
        self.window = window

    def wait(self, condition, seconds=60.0):
        return self.window.wait_for(f"return ({condition})", seconds=seconds)

    def type(self, move):
        self.window.run("byId('typed-move').value = arguments[0]; byId('typed').requestSubmit()", move)

    def centre(self, square):
        return self.window.run(
            "const box = desk.board.svg.getBoundingClientRect(), [x, y] = desk.board.place(squareNumber(arguments[0]));"
            "return [box.left + (x + 22.5) * box.width / 360, box.top + (y + 22.5) * box.height / 360]",
            square,
        )

    def click(self, *squares):
        for square in squares:
            self.window.point(self.centre(square))

    def drag(self, one, other):
        (x1, y1), (x2, y2) = self.centre(one), self.centre(other)
        self.window.point((x1, y1), ((x1 + x2) / 2, (y1 + y2) / 2), (x2, y2))

    def moves(self):
        return self.window.run("return play.moves")

    def answered(self, plies):
        self.wait(f"play.game && (play.game.points !== null || (play.moves.length >= {plies} && !play.game.thinking))")
