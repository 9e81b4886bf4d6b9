# A command line.
import argparse

parser = argparse.ArgumentParser(description="Counts things")
parser.add_argument("names", nargs="*")
parser.add_argument("--token-limit", type=int, default=1000)
parser.add_argument("--password-file", default="none")
args = parser.parse_args(["a", "b", "--token-limit", "50"])
print(len(args.names), args.token_limit)
