/* run.c */
int cmd_run(int argc, char **argv);
int cmd_run(int argc, char **argv) { (void)argc; (void)argv; return 0; }
