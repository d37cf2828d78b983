"""`python -m momagames` is the command `momagames`."""

from momagames.cli.app import main

if __name__ == "__main__":
    main()
