/* doctor.c */
int cmd_doctor(int argc, char **argv);
int cmd_doctor(int argc, char **argv) { (void)argc; (void)argv; return 0; }
