/* run_help.c - `vial run --help`. */
#include <stdio.h>

#include "cli/limit_args.h"
#include "cli/run_options.h"

void run_options_help(void)
{
    (void)printf(
        "usage: vial run [OPTION]... FILE [-- ARG...]\n"
        "       vial run [OPTION]... -e CODE [-- ARG...]\n"
        "       vial run [OPTION]... - [-- ARG...] < FILE\n\n"
        "Runs a program in JavaScript, TypeScript or Python in a fresh confined process. What it\n"
        "prints is passed on as it comes; its value (of __return(v), or of the last expression,\n"
        "promises awaited) is printed last. All that vial itself says goes to stderr.\n\n"
        "  -e, --eval CODE     run CODE\n"
        "  --input JSON        the program's global `input`\n"
        "  --input-file FILE   the same from a file, - for stdin\n"
        "  --input-cbor FILE   the same as CBOR, for values that JSON does not have\n"
        "  --module-file NAME=FILE   a module that the program may import as NAME; may be "
        "repeated\n"
        "  --module, --script  what the program is; by default a module when it has import or "
        "export\n"
        "  --lang js|ts|python what the program is written in; else Python is known by the file's\n"
        "                      name (.py), TypeScript by it (.ts, .mts, .cts) or by its types\n"
        "  --json              print one result object instead of the value\n"
        "  --require LAYERS    refuse to run unless these hold (vial doctor lists them; also "
        "full,\n"
        "                      rootless, landlock>=N); separated by commas, may be repeated\n"
        "  --no-jit            interpret only: a smaller surface at a tenth of the speed\n\n"
        "Files and the process. The program's own directory is /home/vial; it is gone with the "
        "run.\n\n"
        "  --file SRC[:DST]    give it a file, or a directory with its files; may be repeated\n"
        "  --out GLOB          take files back that match (* ? [..] **); may be repeated\n"
        "  --out-dir DIR       where they go; the current directory unless given. What the "
        "program\n"
        "                      shows by display() is saved there, too: artifact-1.png, ...\n"
        "  --force             overwrite what is there\n"
        "  --env NAME=VALUE    a variable of process.env or os.environ; may be repeated\n"
        "  --cwd DIR           the working directory, inside of /home/vial\n"
        "  --stdin FILE        its standard input, - for ours; empty unless given\n"
        "  --no-files          no private directory; --files, which is what holds, gives it one\n"
        "  -- ARG...           what process.argv or sys.argv has behind the program\n\n"
        "The network, which there is none of unless it is allowed:\n\n"
        "  --net URL           allow requests to what is beneath it: "
        "https://api.example.com/v1/*;\n"
        "                      *.example.com is for all names beneath one; may be repeated\n"
        "  --net-address ADDR  these may also reach this address, which is not public\n\n"
        "%sLimits are always on. Defaults and ranges:\n\n",
        RUN_ENV_HELP);
    limit_args_help();
    (void)printf(
        "\nExit codes: 0 ok (or what process.exit or sys.exit was given), 1 exception, 2 usage,\n"
        "122 call limit, 123 disk limit, 124 wall limit,\n"
        "125 failure of vial itself, 126 denied, 130 cancelled, 134 crashed, 137 memory limit,\n"
        "152 cpu limit, 153 output limit.\n");
}
